# Ends the interpreter, which frees its threads' state, while the threads take their stacks without the GIL.
#   python shutdown.py LIBRARY SPOOL
import ctypes
import sys
import threading
import time

library = ctypes.CDLL(sys.argv[1])
library.probe_start.restype = ctypes.c_char_p
refusal = library.probe_start(sys.argv[2].encode(), 1, 0, 32)


def spin(depth):
    return spin(depth - 1) if depth else library.probe_spin()


for depth in (0, 5, 30):
    threading.Thread(target=spin, args=(depth,), daemon=True).start()
time.sleep(0.01)
print("ends", refusal.decode())
