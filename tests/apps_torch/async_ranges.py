"""Opens more ranges than the library holds open for a thread; they end on another thread when a future is done."""
import threading

import torch
from torch.autograd.profiler import record_function

for _ in range(100):
    with record_function("outer"):
        future = torch.futures.Future()
        with record_function("asynchronous") as pending:
            finished = pending._call_end_callbacks_on_future(future)
        torch.ones(2)
    other = threading.Thread(target=future.set_result, args=(1,))
    other.start()
    other.join()
    finished.wait()
print("done")
