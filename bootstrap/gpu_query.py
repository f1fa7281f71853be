"""Asks each GPU driver who answers. Run in a process of its own, since drivers crash and hang.

Prints one JSON object: backend name to the board's name. A toolchain is no answer, nor is a
software renderer: only a driver that names a board.
"""

from __future__ import annotations

import ctypes
import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from bootstrap.process import output_of

# VkPhysicalDeviceType: integrated, discrete, virtual; 4 is a processor (llvmpipe).
_VULKAN_GPU_TYPES = (1, 2, 3)
_VULKAN_PROPERTIES_BYTES = 1024  # the struct has 824
_KFD_NODES = Path("/sys/class/kfd/kfd/topology/nodes")


def nvidia_name(load: Callable[[str], ctypes.CDLL] = ctypes.CDLL) -> str | None:
    """Name of the first NVIDIA board, from NVML or else from nvidia-smi."""
    try:
        nvml = load("libnvidia-ml.so.1")
    except OSError:
        # WSL keeps the library outside the loader's path, but not the program.
        listed = output_of(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
        return listed.strip().splitlines()[0] if listed and listed.strip() else None
    if nvml.nvmlInit_v2() != 0:
        return None
    try:
        handle, name = ctypes.c_void_p(), ctypes.create_string_buffer(96)
        if nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) != 0:
            return None
        if nvml.nvmlDeviceGetName(handle, name, ctypes.c_uint(96)) != 0:
            return None
        return name.value.decode(errors="replace")
    finally:
        nvml.nvmlShutdown()


def amd_name(nodes: Path = _KFD_NODES) -> str | None:
    """Name of the first AMD GPU that the kernel's compute driver lists."""
    for properties in sorted(nodes.glob("*/properties")):
        words = dict(
            line.split(maxsplit=1) for line in properties.read_text().splitlines() if " " in line
        )
        if int(words.get("simd_count", 0)) > 0:  # processors are nodes too, without SIMD units
            target = int(words.get("gfx_target_version", 0))
            name = f"gfx{target // 10000}{target // 100 % 100:x}{target % 100:x}"
            return f"AMD GPU ({name})"
    return None


def vulkan_name(load: Callable[[str], ctypes.CDLL] = ctypes.CDLL) -> str | None:
    """Name of the first Vulkan device that is no processor."""
    try:
        vulkan = load("libvulkan.so.1")
    except OSError:
        return None
    # VkInstanceCreateInfo: sType 1, all pointers null, all counts 0.
    info = (ctypes.c_uint64 * 8)(1)
    instance, count = ctypes.c_void_p(), ctypes.c_uint32()
    if vulkan.vkCreateInstance(info, None, ctypes.byref(instance)) != 0:
        return None
    try:
        vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None)
        devices = (ctypes.c_void_p * count.value)()
        vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), devices)
        for device in devices:
            properties = ctypes.create_string_buffer(_VULKAN_PROPERTIES_BYTES)
            vulkan.vkGetPhysicalDeviceProperties(ctypes.c_void_p(device), properties)
            kind = int.from_bytes(properties.raw[16:20], sys.byteorder)
            if kind in _VULKAN_GPU_TYPES:
                return properties.raw[20:276].split(b"\0")[0].decode(errors="replace")
    finally:
        vulkan.vkDestroyInstance(instance, None)
    return None


def apple_name() -> str | None:
    """The chip's name on Apple silicon, where Metal always answers."""
    if platform.system() != "Darwin" or platform.machine() != "arm64":
        return None
    return (output_of(["sysctl", "-n", "machdep.cpu.brand_string"]) or "Apple GPU").strip()


def main() -> None:
    """Print who answers."""
    answers = {
        "metal": apple_name(),
        "cuda": nvidia_name(),
        "rocm": amd_name(),
        "vulkan": vulkan_name(),
    }
    sys.stdout.write(json.dumps({backend: name for backend, name in answers.items() if name}))


if __name__ == "__main__":
    main()
