"""Imports PyTorch while two threads use the modules already imported, and ends in the middle of the import.

usage: import_moment.py WAY MOMENT
MOMENT: number of the import at which it ends (torch makes some thousand); 0: prints the number of imports instead
WAY: exit, _exit, SIGINT, SIGTERM; thread_exit: another thread calls _exit at about that moment
"""
import os
import signal
import sys
import threading
import time

way, moment = sys.argv[1], int(sys.argv[2])
main_thread = threading.main_thread()
reached = threading.Event()
imports = 0


def use():
    while main_thread.is_alive():
        time.sleep(0.002)
        torch = sys.modules.get("torch")
        if hasattr(torch, "nn"):
            torch.can_cast(torch.float32, torch.float64)  # integers deadlock PyTorch 2.6 by itself


def exit_from_here():
    while main_thread.is_alive():
        if reached.wait(0.002):
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
    if event == "import" and threading.current_thread() is main_thread:
        imports += 1
        if imports == moment:
            end()


for function in (use, use, exit_from_here):
    threading.Thread(target=function).start()
sys.addaudithook(count_imports)
import torch

print(torch.ones(2).sum().item() if moment else imports)
