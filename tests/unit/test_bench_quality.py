from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import llama_server, quality

# What the tool prints, its figures made up.
SAID = """
chunk             PPL               ln(PPL(Q)/PPL(base))          KL Divergence              Δp RMS            Same top p
   1       9.1234 ±    0.9876       0.00123 ±    0.00456       0.00967 ±    0.00041     1.234 ±  0.056 %    95.686 ±  1.274 %

====== Perplexity statistics ======
Mean PPL(Q)                   :  12.360600 ±   0.310000
Mean PPL(base)                :  12.341200 ±   0.300000
Cor(ln(PPL(Q)), ln(PPL(base))):  99.87%
Mean ln(PPL(Q)/PPL(base))     :   0.001571 ±   0.001200
Mean PPL(Q)/PPL(base)         :   1.001572 ±   0.001202
Mean PPL(Q)-PPL(base)         :   0.019400 ±   0.014800

====== KL divergence statistics ======
Mean    KLD:   0.009679 ±   0.000412
Maximum KLD:   0.801234
99.9%   KLD:   0.301234
99.0%   KLD:   0.091234
95.0%   KLD:   0.041234
90.0%   KLD:   0.021234
Median  KLD:   0.004123
10.0%   KLD:   0.000123
Minimum KLD:  -0.000001

====== Token probability statistics ======
Mean    Δp: -0.012 ± 0.045 %
Same top p: 95.620 ± 0.290 %
"""  # noqa: E501


def task(tmp_path: Path) -> quality.Task:
    return quality.Task(tmp_path / "m.gguf", tmp_path / "t.txt", chunks=20, threads=2)


def test_that_the_tools_figures_are_read() -> None:
    figures = quality.tool_figures(SAID)
    assert (figures["mean_kld"], figures["mean_kld_error"]) == (0.009679, 0.000412)
    assert (figures["ppl"], figures["ppl_base"], figures["ppl_ratio"]) == (
        12.3606, 12.3412, 1.001572
    )  # fmt: skip
    assert (figures["median_kld"], figures["p90_kld"], figures["p99_kld"]) == (
        0.004123, 0.021234, 0.091234
    )  # fmt: skip
    assert (figures["max_kld"], figures["same_top_percent"]) == (0.801234, 95.62)


def test_that_a_tool_that_told_nothing_is_an_error_that_quotes_it() -> None:
    with pytest.raises(quality.ToolError, match="unable to load model"):
        quality.tool_figures("error: unable to load model")


def test_that_the_tool_reads_in_the_same_chunks_batches_and_threads(tmp_path: Path) -> None:
    line = " ".join(quality.tool_arguments(task(tmp_path)))
    assert "-c 512 -b 512 -ub 512 -t 2 -tb 2 --chunks 20 -fit off" in line


def test_that_the_differences_are_told_and_targets_that_were_missed(tmp_path: Path) -> None:
    peer = quality.tool_figures(SAID)
    own = peer | {"mean_kld": 0.009673, "tokens": 5100.0, "chunks": 20.0}
    cell = quality.cell_of("m", "q8_0/q8_0", task(tmp_path), own, peer, own_s=30.0, peer_s=50.0)
    assert cell["mean_kld_relative_difference"] == pytest.approx(-0.00062, abs=1e-5)
    worse = cell | {"mean_kld_relative_difference": -0.02, "same_top_difference_points": 0.2}
    assert quality.misses(quality.as_json([cell], 2)) == []
    content = quality.as_json([cell, worse], 2)
    assert content["mean_kld_relative_difference"] == 0.02
    assert len(quality.misses(content)) == 2
    text = "\n".join(quality.table([cell]))
    assert "0.009673          0.009679" in text
    assert "-0.062 %" in text


def test_that_quick_is_gemma_and_few_chunks() -> None:
    quick = quality.parse(["--quick"])
    assert (quick.only, quick.chunks) == (["gemma"], quality.QUICK_CHUNKS)
    assert quality.parse([]).only == list(quality.MODELS)
    with pytest.raises(SystemExit):
        quality.parse(["--chunks", "1"])


def test_that_the_text_loses_the_line_end_that_the_tool_takes_away(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("words\n\n")
    assert quality.text_of(path) == "words"


def test_that_another_tool_is_built_beside_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []

    def compile_it(_: Path, build_dir: Path, __: object, ___: int, tool: str) -> None:
        built.append(tool)
        (build_dir / "bin").mkdir(parents=True, exist_ok=True)
        (build_dir / "bin" / tool).touch()

    monkeypatch.setattr(llama_server, "_compile", compile_it)
    monkeypatch.setattr(llama_server, "source_dir", lambda *_: tmp_path)
    monkeypatch.setattr(llama_server, "LINK", tmp_path / "links" / "llama-server")
    server = llama_server.build(tmp_path)
    tool = llama_server.build(tmp_path, tool=llama_server.PERPLEXITY)
    assert server.parent == tool.parent
    assert llama_server.build(tmp_path, tool=llama_server.PERPLEXITY) == tool
    assert built == ["llama-server", "llama-perplexity"]
    assert (tmp_path / "links" / "llama-perplexity").resolve() == tool
