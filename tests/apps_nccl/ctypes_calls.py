"""Calls NCCL through ctypes, as vLLM and CuPy do. No call passes a symbol that can be interposed.

ctypes_calls.py LIBRARY prints NAME RESULT for each call.
"""
import ctypes
import sys

nccl = ctypes.CDLL(sys.argv[1])


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


buffer = (ctypes.c_float * 16)()
count, comm = ctypes.c_size_t(4), ctypes.c_void_p(None)
FLOAT, SUM, MAX = 7, 0, 2
unique_id = UniqueId()
CALLS = [
    ("ncclGetUniqueId", ctypes.byref(unique_id)),
    ("ncclCommInitRank", ctypes.byref(comm), 2, unique_id, 7),
    ("ncclAllReduce", buffer, buffer, count, FLOAT, MAX, None, None),
    ("ncclAllGather", buffer, buffer, count, FLOAT, None, None),
    ("ncclReduceScatter", buffer, buffer, count, FLOAT, SUM, None, None),
    ("ncclBroadcast", buffer, buffer, count, FLOAT, 3, None, None),
    ("ncclReduce", buffer, buffer, count, FLOAT, SUM, 1, None, None),
    ("ncclSend", buffer, count, FLOAT, 5, None, None),
    ("ncclRecv", buffer, count, FLOAT, 6, None, None),
    ("ncclGroupStart",),
    ("ncclGroupEnd",),
    ("ncclCommDestroy", None),
]
for name, *arguments in CALLS:
    print(name, getattr(nccl, name)(*arguments), flush=True)
