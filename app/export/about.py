"""What the engines of the export are called, and what a person should know of each. Data alone."""

from __future__ import annotations

from dataclasses import dataclass

FAMILY = "llama.cpp"
SERVICES = "Containers and services"
OTHERS = "Other engines"


@dataclass(frozen=True)
class About:
    """One engine.

    Attributes:
        name: For people.
        group: Engines of one kind.
        told: What it is told by, a sentence.
        needs: What it needs, a sentence.
    """

    name: str
    group: str
    told: str
    needs: str


_OWN_WEIGHTS = "It usually runs weights in its own formats instead of a GGUF: name a model for it."

ABOUT: dict[str, About] = {
    "llama serve": About(
        "llama serve",
        FAMILY,
        "llama.cpp's server by the program that unites its tools: one line with every setting.",
        "A build of llama.cpp that has the program llama, and the model's file.",
    ),
    "llama-server": About(
        "llama-server",
        FAMILY,
        "llama.cpp's server under its classic name: one line with every setting.",
        "A build of llama.cpp, 0.5 or newer for all of its flags, and the model's file.",
    ),
    "llama-bench": About(
        "llama-bench",
        FAMILY,
        "llama.cpp's benchmark: what it can measure of these settings, one stream at a time.",
        "A build of llama.cpp, and nothing else that uses the machine meanwhile.",
    ),
    "llama-preset": About(
        "Preset file (INI)",
        FAMILY,
        "A section of the file that llama-server reads with --models-preset, by which one server "
        "offers several models.",
        "A llama-server that knows presets; put the section into your file if you have one.",
    ),
    "llama-cpp-python": About(
        "Python script",
        FAMILY,
        "A script that makes a llama_cpp.Llama of these settings, for a program of your own.",
        "The package llama-cpp-python, and the model's file.",
    ),
    "docker-run": About(
        "Docker",
        SERVICES,
        "One command that runs llama.cpp's server in its official image, with the model's folder "
        "mounted read-only.",
        "Docker, and for GPUs the container toolkit of their maker.",
    ),
    "docker-compose": About(
        "Docker Compose",
        SERVICES,
        "A compose file with llama.cpp's server as a service, which is started anew when it ends.",
        "Docker with Compose, and for GPUs the container toolkit of their maker.",
    ),
    "systemd": About(
        "systemd unit",
        SERVICES,
        "A unit with which Linux starts llama-server with the machine and keeps it running.",
        "Linux with systemd, and llama-server where the unit says it is.",
    ),
    "llama-swap": About(
        "llama-swap",
        SERVICES,
        "An entry of its YAML file: the proxy starts llama-server for a model that is asked for.",
        "llama-swap and a llama-server; put the entry into your file if you have one.",
    ),
    "ollama": About(
        "Ollama",
        OTHERS,
        "A Modelfile for the model's own settings, variables for those of the server, and the "
        "commands that use both.",
        "Ollama; it copies the GGUF into its own store.",
    ),
    "lmstudio": About(
        "LM Studio",
        OTHERS,
        "The command lms load with what it takes, and a file for the settings of loading.",
        "LM Studio with its command-line tool lms, and the model in its folders.",
    ),
    "koboldcpp": About(
        "KoboldCpp",
        OTHERS,
        "Its flags, and the same as a .kcpps file that its launcher opens.",
        "KoboldCpp; it runs one conversation at a time on the same GGUF.",
    ),
    "vllm": About(
        "vLLM",
        OTHERS,
        "The command vllm serve with what means the same there.",
        _OWN_WEIGHTS,
    ),
    "sglang": About(
        "SGLang",
        OTHERS,
        "The command that starts its server, with what means the same there.",
        _OWN_WEIGHTS,
    ),
    "tensorrt-llm": About(
        "TensorRT-LLM",
        OTHERS,
        "The command trtllm-serve, and a YAML file for what it has no flag for.",
        f"NVIDIA GPUs. {_OWN_WEIGHTS}",
    ),
}


def about(target: str) -> About:
    """What is told of ``target``; of one that nobody described its own name."""
    return ABOUT.get(target) or About(target, OTHERS, "", "")


def in_groups(targets: list[str]) -> list[str]:
    """``targets`` with those of one group together, else in their order."""
    groups = [FAMILY, SERVICES, OTHERS]
    return sorted(targets, key=lambda target: groups.index(about(target).group))
