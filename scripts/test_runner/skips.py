"""The reasons for which a test may be skipped, and the machines on which they may hold.

A test that is skipped for a reason that is not here, or on a machine where the reason does not hold, counts as failed.
"""
import functools
import glob
import os
import platform
import re
import resource
import shutil
import subprocess

CUDA = os.environ.get("CUDA_HOME", "/usr/local/cuda")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "profshim")


@functools.cache
def fails(*command, user=None):
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                              user=user, check=False)
    except (OSError, subprocess.SubprocessError):
        return True
    return done.returncode != 0


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# Each of the conditions takes the match of the reason and the skipped test (report.Test). It returns true if the
# machine, or the build, lacks what the test needs.

def cannot(*command, **options):
    return lambda match, test: fails(*command, **options)


def lacks_program(name):
    return lambda match, test: shutil.which(name) is None


def lacks_file(*patterns):
    return lambda match, test: not any(glob.glob(pattern) for pattern in patterns)


def is_not_root(match, test):
    return os.geteuid() != 0


def others_cannot_read(match, test):
    """A folder above the programs may be closed to others, such as /root."""
    return is_not_root(match, test) or fails("test", "-r", os.path.abspath("build/libprofshim.so"), user=65534)


def is_sanitized(match, test):
    return re.search(r"/[at]san/", test.of.program) is not None


def is_not_debian_12(match, test):
    text = text_of("/etc/os-release")
    return not ("\nID=debian\n" in text and 'VERSION_ID="12"' in text)


def job_does_not_run_so(match, test):
    """The jobs that do not run without the library either, with the MPIs of Debian 12."""
    return is_not_debian_12(match, test) or NOT_IN_DEBIAN_12.search(test.name) is not None


NOT_IN_DEBIAN_12 = re.compile(r"""
  Real/Environments\..*/(ulimit_f_(openmpi|mpich)|(shared_memory_read_only|shared_memory_of_1_MB|no_proc)_mpich)$|
  Real/Seccomp\..*/(sched_getaffinity_.*|getdents_.*_openmpi|(unlink|clone|mmap_shared|fcntl|socket)_.*_mpich)$|
  Real/Seccomp\..*/clone3_EPERM_mpich$|
  Mpis/Lookups\.AnotherNamespaceIsNotTouched/openmpi$
""", re.VERBOSE)


def has_one_mpi(match, test):
    return len(glob.glob("/usr/bin/mpicc.mpich") + glob.glob("/usr/bin/mpicc.openmpi")) < 2


def python_of(test):
    return test.of.environment.get("PROFSHIM_TEST_PYTHON") or "/usr/bin/python3"


@functools.cache
def torch_of(python):
    """Returns PyTorch's version and that of the CUDA it is for, without importing it, which takes seconds."""
    script = """import importlib.util, os
names = {}
exec(open(os.path.join(os.path.dirname(importlib.util.find_spec('torch').origin), 'version.py')).read(), names)
print(names['__version__'], names.get('cuda'))"""
    answer = subprocess.run([python, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            check=False)
    return answer.stdout.split() if answer.returncode == 0 else ["0", "None"]


def lacks_torch(match, test):
    return int(torch_of(python_of(test))[0].split(".")[0]) < int(match.group("major"))


def torch_is_not_pinned(match, test):
    """`make test-torch` pins a PyTorch in which all of this works."""
    return test.of.label != "torch"


def torch_is_for_cuda(match, test):
    return torch_of(python_of(test))[1] != "None"


def lacks_module(name):
    return lambda match, test: fails(python_of(test), "-c", f"import {name}")


def limits_address_space(match, test):
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def limits_locked_memory(match, test):
    return is_not_root(match, test) and resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] != resource.RLIM_INFINITY


def lacks_memory(match, test):
    return int(re.search(r"MemAvailable: *(\d+)", text_of("/proc/meminfo")).group(1)) < 8 << 20


def keeps_cores_elsewhere(match, test):
    return (re.match(r"[|/]", text_of("/proc/sys/kernel/core_pattern")) is not None
            or resource.getrlimit(resource.RLIMIT_CORE)[1] == 0)


def is_older_kernel(*version):
    return lambda match, test: tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2]) < version


def is_not_x86(match, test):
    return platform.machine() != "x86_64"


def lacks_cgroup(match, test):
    return not any(os.access(path, os.W_OK) for path in
                   ("/sys/fs/cgroup/cgroup.subtree_control", "/sys/fs/cgroup/memory/cgroup.procs"))


PROCESSES = ("unshare", "--pid", "--fork", "--mount-proc", "true")  # fails in a chroot that is no mount point
USERS = ("unshare", "--user", "--map-root-user", "true")  # fails in every chroot: unshare(2)


def cannot_unshare(match, test):
    return fails(*(USERS if "/user_namespace_" in test.name else PROCESSES))


MOUNT = ("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/dev/shm")
MOUNT_FILE = """folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
  truncate -s 64M "$folder/image" && mkfs.ext4 -qF "$folder/image" && mkdir "$folder/disk" &&
  unshare --mount mount -o loop "$folder/image" "$folder/disk" """
CUDA_HEADERS = [f"{folder}/cuda_runtime_api.h"
                for folder in (f"{CUDA}/include", "build/deps/nvidia/*/include", "/usr/include")]
NCCL = [f"{CUDA}/lib64/libnccl.so.2", "/usr/lib/*-linux-gnu/libnccl.so.2", "build/deps/nvidia/nccl/lib/libnccl.so.2"]
NVTX = [f"{CUDA}/include/nvtx3/nvToolsExtPayload.h", "build/deps/nvidia/*/include/nvtx3/nvToolsExtPayload.h"]
PYTHON_6_TO_9 = [f"{folder}/python3.[6-9]" for folder in
                 ("/usr/bin", "/usr/local/bin", os.path.expanduser("~/.pyenv/versions/*/bin"))]

RULES = [(re.compile(f"(?:{pattern})\\Z", re.DOTALL), lacks) for pattern, lacks in (
    # Users, namespaces, limits.
    (r"only root can (give|act|start) .*", is_not_root),
    (r"another user cannot read .*", others_cannot_read),
    (r"root reads everything, and another user cannot reach the tool here", others_cannot_read),
    (r"mounting is not allowed here", cannot(*MOUNT)),
    (r"no file system can be mounted here", cannot(*MOUNT)),
    (r"no process can be hidden here", cannot(*MOUNT)),
    (r"a file cannot be mounted here: .*", cannot("sh", "-c", MOUNT_FILE)),
    # The youngest of the environments is the quota of a tmpfs: Linux 6.6.
    (r"this environment cannot be made here", cannot(*MOUNT, "-o", "usrquota")),
    (r"no PID namespace can be made here", cannot(*PROCESSES)),
    (r"the job itself does not run so here: exit 1: unshare: .*", cannot_unshare),
    (r"no UTS namespace can be made here", cannot("unshare", "--uts", "true")),
    (r"no network namespace or no /dev/net/tun here", cannot("unshare", "--net", "sh", "-c", "exec 3<>/dev/net/tun")),
    (r"SCHED_FIFO is not permitted here", cannot("chrt", "--fifo", "1", "true")),
    (r"address space is limited to less already", limits_address_space),
    (r"memory cannot be locked here", limits_locked_memory),
    (r"this machine has too little memory", lacks_memory),
    (r"core dumps are not written into the working folder here", keeps_cores_elsewhere),
    (r"this machine has no pseudo-terminals \(/dev/pts\)", cannot("script", "-qec", "true", "/dev/null")),
    (r"this process has no memory cgroup that it may divide|/sys/fs/cgroup/.*", lacks_cgroup),
    # The kernel and the processor.
    (r"no /proc/self/task/\*/schedstat here", lacks_file("/proc/self/schedstat")),
    (r"this kernel does not count waits for a CPU", lacks_file("/proc/self/schedstat")),
    (r"Linux before 4.14", is_older_kernel(4, 14)),
    (r"the control block is known on x86-64 only", is_not_x86),
    # The build.
    (r"the library of that build wants its runtime first in every process", is_sanitized),
    (r"ThreadSanitizer takes the signal itself and hands it out after the guard", is_sanitized),
    (r"a library with a sanitizer cannot be loaded by an ordinary interpreter", is_sanitized),
    (r"the script does not preload a sanitizer's runtime", is_sanitized),
    (r"a sanitizer's? .*", is_sanitized),
    (r"no CUDA headers on this machine", lacks_file(*CUDA_HEADERS)),
    (r"no nccl.h on this machine", lacks_file("/usr/include/nccl.h", "build/deps/nvidia/nccl/include/nccl.h")),
    (r"built without the headers of NVTX: .*", lacks_file(*NVTX)),
    (r"nvcc is not installed", lacks_program("nvcc")),
    # Packages.
    (r"there is no (?P<name>mpicc\.\w+)", lambda match, test: shutil.which(match["name"]) is None),
    (r"(?P<path>/\S+) is not installed", lambda match, test: not os.path.exists(match["path"])),
    (r"rows that only the other MPI has cannot be called", has_one_mpi),
    (r"Open MPI does not start alone in a network namespace", has_one_mpi),
    (r"no MPI_THREAD_MULTIPLE", is_not_debian_12),
    (r"this MPI cannot live in another namespace", job_does_not_run_so),
    (r"/proc cannot be hidden here, or MPI does not start without it", is_not_debian_12),
    (r"the job itself does not run so here: .*", job_does_not_run_so),
    (r"objdump is not installed", lacks_program("objdump")),
    (r"no such Python", lacks_file(*PYTHON_6_TO_9)),
    (r"no mpi4py", lacks_module("mpi4py")),
    (r"no chromium-headless-shell on this machine", lacks_program("chromium-headless-shell")),
    (r"no libnccl.so.2 on this machine: .*", lacks_file(*NCCL)),
    (r"no Python for the readers: .*", lacks_file("build/venv-consumers/bin/python")),
    (r"PyTorch's rules for traces are not there: .*",
     lacks_file("build/venv-consumers/torch/profiler/_trace_validator.py")),
    (r"no Ray: .*", lacks_file(f"{CACHE}/loops-venv/bin/python")),
    # PyTorch.
    (r"no PyTorch (?P<major>\d+) in .*", lacks_torch),
    (r"no headers of PyTorch: .*", lacks_file("/usr/include/ATen/ATen.h", "/usr/include/*-linux-gnu/ATen/ATen.h")),
    (r"no joblib in .*", lacks_module("joblib")),
    (r"the PyTorch of .* has no RPC: .*", torch_is_not_pinned),
    (r".* has a PyTorch for CUDA: .*", torch_is_for_cuda),
    (r"this PyTorch's fully_shard does not work without a GPU", torch_is_not_pinned),
    (r"this PyTorch's own profiler breaks", torch_is_not_pinned),
    (r"a PyTorch that writes Kb, .*", torch_is_not_pinned),
)]


def forbidden(test):
    """Returns those of the test's reasons that do not hold on this machine."""
    return [reason for reason in test.reasons or ["no reason given"] if not holds(reason, test)]


def holds(reason, test):
    return any(lacks(match, test) for pattern, lacks in RULES if (match := pattern.match(reason)))
