# Measures the cost of Python stacks of 2, 10 and 32 frames, and of native stacks.
import ctypes
import sys

probe = ctypes.PyDLL(sys.argv[1])
probe.probe_start.restype = probe.probe_take.restype = ctypes.c_char_p
probe.probe_cost.restype = ctypes.c_double


def at_depth(depth, function):
    return at_depth(depth - 1, function) if depth > 2 else function()


def through_c(depth):
    """Makes a deep native stack: C calls each key function of a sort."""
    if depth == 0:
        return probe.probe_cost(), probe.probe_take()
    results = []
    sorted([0], key=lambda _: results.append(through_c(depth - 1)) or 0)
    return results[0]


probe.probe_start(sys.argv[2].encode(), 1, 0, 256)
for frames in (2, 10, 32):
    print("  Python, %2d frames   %6.0f" % (frames, at_depth(frames, probe.probe_cost)))
probe.probe_start(sys.argv[2].encode(), 0, 1, 256)
for depth in (0, 3):
    cost, taken = through_c(depth)
    print("  %-18s  %6.0f" % (taken.decode() + " frames", cost))
