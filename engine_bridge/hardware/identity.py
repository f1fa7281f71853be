"""What this machine is called by its makers: processor, system, driver. Never by its owner."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pynvml

_CPU_INFO = Path("/proc/cpuinfo")
_SYSCTL = ("/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string")
_TIMEOUT_S = 5.0


def processor_name(cpu_info: Path = _CPU_INFO) -> str:
    """The processor's name; its architecture where the system does not tell more."""
    if cpu_info.exists():
        for line in cpu_info.read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "Model") and value.strip():
                return value.strip()
    if sys.platform == "darwin":
        done = subprocess.run(
            _SYSCTL, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
        )
        if done.stdout.strip():
            return done.stdout.strip()
    return platform.processor() or platform.machine()


def system_name() -> str:
    """System and version, of a Linux its distribution as well."""
    name = platform.platform()
    try:
        pretty = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:  # no Linux, or one without this file
        return name
    return f"{pretty} ({name})" if pretty else name


def nvidia_driver() -> str:
    """Version of NVIDIA's driver, or why there is none."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return f"none ({error})"
    try:
        return str(pynvml.nvmlSystemGetDriverVersion())
    except pynvml.NVMLError as error:
        return f"unknown ({error})"
    finally:
        pynvml.nvmlShutdown()
