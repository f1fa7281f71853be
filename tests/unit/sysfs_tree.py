"""Files as Linux keeps them about GPUs, by values that were recorded on such boards.

Names, units and shapes are those of the kernel's documentation (amdgpu, xe, i915, DRM's fdinfo).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ENGINE = 4242
GIB = 1 << 30

_NAMES = """# List of AMDGPU IDs

1.0.0
744C,\tC8,\tAMD Radeon RX 7900 XTX
744C,\tCC,\tAMD Radeon RX 7900 XT
"""


def write(root: Path, files: Mapping[str, str | int | bytes]) -> None:
    """Write each file below ``root``, with the line feed that the kernel ends it with."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else f"{content}\n".encode())


def uevent(driver: str, pci_id: str, slot: str) -> str:
    """What the kernel says of a PCI device."""
    return f"DRIVER={driver}\nPCI_CLASS=30000\nPCI_ID={pci_id}\nPCI_SLOT_NAME={slot}"


def rx_7900_xtx(root: Path, card: str = "card1", slot: str = "0000:03:00.0") -> Path:
    """A board at work: 6 of 24 GiB used, its junction hotter than its edge. Returns its folder."""
    device, sensors = f"sys/class/drm/{card}/device", f"sys/class/drm/{card}/device/hwmon/hwmon3"
    write(
        root,
        {
            "usr/share/libdrm/amdgpu.ids": _NAMES,
            f"{device}/uevent": uevent("amdgpu", "1002:744C", slot),
            f"{device}/revision": "0xc8",
            f"{device}/power/runtime_status": "active",
            f"{device}/mem_info_vram_total": 24 * GIB,
            f"{device}/mem_info_vram_used": 6 * GIB,
            f"{device}/mem_info_gtt_total": 16 * GIB,
            f"{device}/mem_info_gtt_used": GIB // 4,
            f"{device}/gpu_busy_percent": 93,
            f"{device}/mem_busy_percent": 61,
            f"{device}/pp_dpm_sclk": "0: 500Mhz \n1: 2304Mhz *\n2: 2482Mhz ",
            f"{device}/pp_dpm_mclk": "0: 96Mhz \n1: 456Mhz \n2: 772Mhz \n3: 1249Mhz *",
            f"{device}/pp_dpm_pcie": "0: 2.5GT/s, x8 619Mhz \n1: 16.0GT/s, x16 619Mhz *",
            f"{device}/current_link_speed": "16.0 GT/s PCIe",
            f"{device}/current_link_width": 16,
            f"{device}/gpu_metrics": b"\x78\x00\x01\x03" + bytes(116),
            f"{device}/drm/renderD128/dev": "226:128",
            f"{sensors}/name": "amdgpu",
            f"{sensors}/power1_average": 287_000_000,
            f"{sensors}/power1_cap": 339_000_000,
            f"{sensors}/temp1_input": 58_000,
            f"{sensors}/temp1_label": "edge",
            f"{sensors}/temp2_input": 79_000,
            f"{sensors}/temp2_label": "junction",
            f"{sensors}/temp3_input": 74_000,
            f"{sensors}/temp3_label": "mem",
            # A connector of the same card, which is none.
            f"sys/class/drm/{card}-DP-1/status": "connected",
        },
    )
    return root / "sys/class/drm" / card


def phoenix(root: Path, card: str = "card2") -> Path:
    """The GPU in a processor: half a GiB set apart for it, the rest from main memory."""
    device, sensors = f"sys/class/drm/{card}/device", f"sys/class/drm/{card}/device/hwmon/hwmon6"
    write(
        root,
        {
            f"{device}/uevent": uevent("amdgpu", "1002:15BF", "0000:c4:00.0"),
            f"{device}/revision": "0xc7",
            f"{device}/mem_info_vram_total": GIB // 2,
            f"{device}/mem_info_vram_used": GIB // 4,
            f"{device}/mem_info_gtt_total": 14 * GIB,
            f"{device}/mem_info_gtt_used": 3 * GIB,
            f"{device}/gpu_busy_percent": 4,
            f"{device}/pp_dpm_sclk": "0: 800Mhz *\n1: 2700Mhz ",
            f"{device}/pp_dpm_mclk": "0: 400Mhz *\n1: 800Mhz \n2: 800Mhz \n3: 800Mhz ",
            f"{device}/gpu_metrics": b"\x84\x00\x02\x04" + bytes(128),
            f"{sensors}/name": "amdgpu",
            f"{sensors}/power1_input": 9_174_000,
            f"{sensors}/temp1_input": 41_000,
            f"{sensors}/temp1_label": "edge",
        },
    )
    return root / "sys/class/drm" / card


def arc_b580(root: Path, card: str = "card1") -> Path:
    """A board under xe, held back by its power limit."""
    device, sensors = f"sys/class/drm/{card}/device", f"sys/class/drm/{card}/device/hwmon/hwmon4"
    throttle = f"{device}/tile0/gt0/freq0/throttle"
    write(
        root,
        {
            f"{device}/uevent": uevent("xe", "8086:E20B", "0000:0b:00.0"),
            f"{device}/tile0/gt0/freq0/act_freq": 2750,
            f"{throttle}/status": 1,
            f"{throttle}/reason_pl1": 1,
            f"{throttle}/reason_pl2": 1,
            f"{throttle}/reason_thermal": 0,
            f"{sensors}/name": "xe",
            f"{sensors}/energy1_input": 5_000_000_000,
            f"{sensors}/energy1_label": "card",
            f"{sensors}/energy2_input": 4_000_000_000,
            f"{sensors}/energy2_label": "pkg",
            f"{sensors}/power1_max": 190_000_000,
            f"{sensors}/power2_max": 0,
            f"{sensors}/temp2_input": 63_000,
            f"{sensors}/temp2_label": "pkg",
            f"{sensors}/temp3_input": 70_000,
            f"{sensors}/temp3_label": "vram",
        },
    )
    return root / "sys/class/drm" / card


def uhd_630(root: Path, card: str = "card0") -> Path:
    """The GPU in a processor, under i915: a clock, and no sensors."""
    folder = f"sys/class/drm/{card}"
    write(
        root,
        {
            f"{folder}/device/uevent": uevent("i915", "8086:9BC5", "0000:00:02.0"),
            f"{folder}/gt/gt0/rps_act_freq_mhz": 350,
            f"{folder}/gt/gt0/throttle_reason_status": 0,
        },
    )
    return root / folder


def fdinfo(root: Path, number: int, slot: str, client: int, regions: Mapping[str, str]) -> None:
    """An open file of the engine's, with what its owner holds."""
    lines = [
        "pos:\t0", "flags:\t02100002", "drm-driver:\tamdgpu", f"drm-pdev:\t{slot}",
        f"drm-client-id:\t{client}", *(f"{key}:\t{size}" for key, size in regions.items()),
    ]  # fmt: skip
    write(root, {f"proc/{ENGINE}/fdinfo/{number}": "\n".join(lines)})
