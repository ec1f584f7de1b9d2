"""Imports PyTorch while two threads use as much of it as is there, and ends in the middle of it.

usage: import_moment.py WAY MOMENT     MOMENT: the import that is the last (torch has some thousand); 0: none, which
                                       prints how many there were
WAY: exit, _exit, SIGINT, SIGTERM; thread_exit: _exit of another thread, at about that moment
"""
import os
import signal
import sys
import threading

way, moment = sys.argv[1], int(sys.argv[2])
main_thread = threading.get_ident()
done, reached = threading.Event(), threading.Event()
imports = 0


def use():
    while not done.wait(0.002):
        torch = sys.modules.get("torch")
        if hasattr(torch, "nn"):
            torch.ones(2).add_(1)


def exit_from_here():
    reached.wait()
    if not done.is_set():
        os._exit(3)


def end():
    if way == "exit":
        sys.exit(3)
    if way == "_exit":
        os._exit(3)
    if way == "thread_exit":
        reached.set()
    if way.startswith("SIG"):
        os.kill(os.getpid(), getattr(signal, way))


def count_imports(event, _):
    global imports
    if event == "import" and threading.get_ident() == main_thread:
        imports += 1
        if imports == moment:
            end()


threads = [threading.Thread(target=function) for function in (use, use, exit_from_here)]
for thread in threads:
    thread.start()
sys.addaudithook(count_imports)
try:
    import torch

    if moment == 0:
        print(imports)
    else:
        print(torch.ones(2).sum().item())
finally:
    done.set()
    reached.set()
    for thread in threads:
        thread.join()
