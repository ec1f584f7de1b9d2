#!/usr/bin/env bash
# Checks the include rule and prints each line that breaks it; exit 1 if any does. A file may include
# - contracts (include/profshim) of its own module and of the modules that MAY gives it,
# - private headers of its own folder and of the folders above it, never of a folder below it,
# - private headers of other folders of its module, as long as the folders do not include each other in a circle,
# - the headers of C, C++ and the system, and third-party headers in the one module that HOME names.
# A module is a folder of src or of inject; the files of inject itself are inject/core's.
set -eu
cd "$(dirname "$0")/.."
exec python3 - <<'EOF'
import collections, os, re, subprocess, sys

# The module that implements a contract: a header, or a folder of headers.
OWNER = {
    'analysis': 'analysis', 'analysis.h': 'analysis', 'base': 'base', 'call_stack.h': 'record', 'convert.h': 'convert',
    'cupti_subscriber.h': 'device', 'device': 'device', 'device.h': 'device', 'elf.h': 'elf',
    'ending_signals.h': 'session', 'event.h': 'base', 'hooks': 'base', 'json': 'json', 'json.h': 'json',
    'loop.h': 'loop', 'memory_room.h': 'record', 'perf_counters.h': 'base',
    'phase_ranges.h': 'session', 'python/calls.h': 'base', 'python/stack.h': 'record', 'recorder.h': 'record',
    'recorder_control.h': 'record', 'run': 'run', 'session.h': 'session', 'spec': 'spec', 'spec.h': 'spec', 'spool': 'base',
    'trace': 'trace', 'window': 'window', 'window.h': 'window', 'window_trace.h': 'kineto', 'write': 'write',
}
# The modules whose contracts a module may include. No circles: each line names only modules above it.
MAY = {
    'base': '', 'old_glibc': 'base', 'elf': 'base', 'window': 'base', 'json': 'base',
    'trace': 'base json', 'loop': 'base trace', 'spec': 'base json window',
    'record': 'base spec trace', 'device': 'base json record spec trace',
    'run': 'base json spec trace', 'kineto': 'base device elf json spec trace window',
    'analysis': 'base json loop spec trace', 'convert': 'base trace',
    'write': 'analysis base json kineto run spec trace window',
    # Code that runs in the job knows nothing of traces but their words, and of the writer only how to start it.
    'session': 'base device elf json loop record run spec trace window write/writer.h',
    'inject': 'base device elf json record session spec trace',
    'cli': 'analysis base convert elf json run spec trace window write',
}
# Contracts of others that one module needs for texts that it shows.
ALSO = {('kineto', 'call_stack.h')}
# Parts of inject include each other's private headers as follows, and those of inject itself and core.
INJECT = {'cuda': 'torch', 'nvtx': 'nccl', 'lookup': '', 'mpi': '', 'nccl': '', 'python': '', 'symbol': '', 'torch': '',
          'entry': 'cuda lookup mpi nccl nvtx python symbol torch'}
HOME = {'toml.hpp': 'spec', 'toml': 'spec', 'rapidjson': 'json', 'zlib.h': 'trace', 'CLI': 'cli',
        'protozero': 'convert', 'nvtx3': 'inject'}
SYSTEM_FOLDERS = 'sys linux asm netinet arpa net gnu'.split()
SYSTEM = '''alloca assert ctype cpuid cxxabi dirent dlfcn elf endian errno execinfo fcntl features float fnmatch ftw getopt
glob grp immintrin inttypes langinfo libgen limits link locale malloc math poll pthread pwd sched semaphore setjmp signal
spawn stdarg stdbool stddef stdint stdio stdlib string strings syscall syslog termios time ucontext unistd unwind utime
wchar wordexp x86intrin'''.split()

broken = []


def complain(place, header, why):
    broken.append(f'{place}: may not include {header}: {why}')


def owner_of(contract):
    """The module of a contract, named without profshim/."""
    return OWNER.get(contract) or OWNER.get(contract.split('/')[0])


def module_of(path):
    parts = path.split('/')
    if parts[0] == 'include':
        return owner_of('/'.join(parts[2:]))
    if parts[0] == 'inject':
        return 'inject'
    return parts[1]


def part_of(folder):
    """inject/mpi/hooks -> inject/mpi: the module, for private headers."""
    parts = folder.split('/')
    if parts[0] == 'inject':
        return 'inject/' + parts[1] if len(parts) > 1 else 'inject'
    return '/'.join(parts[:2])


def is_standard(header):
    if '/' in header:
        return header.split('/')[0] in SYSTEM_FOLDERS
    if header.endswith('.h'):
        return header[:-2] in SYSTEM
    return '.' not in header


def check_contract(place, path, header):
    contract = header[len('profshim/'):]
    if not os.path.exists('include/' + header):
        return complain(place, header, f'include/{header} does not exist')
    owner, module = owner_of(contract), module_of(path)
    if owner is None or module is None:
        return complain(place, header, 'give this contract an owner in scripts/check_layers.sh')
    allowed = MAY.get(module, '').split()
    if owner != module and owner not in allowed and contract not in allowed and (module, contract) not in ALSO:
        complain(place, header, f'{module} may not use {owner}: see MAY in scripts/check_layers.sh')


folders = collections.defaultdict(dict)  # folder -> folder that it includes -> where


def check_private(place, path, header):
    folder = os.path.dirname(path)
    base = folder + '/' if '/' not in header else '' if header.startswith('inject/') else 'src/'
    target = os.path.normpath(base + header)
    to = os.path.dirname(target)
    if not os.path.exists(target):
        return complain(place, header, f'not a header of {to}')
    if to == folder or folder.startswith(to + '/'):
        return
    if to.startswith(folder + '/'):
        return complain(place, header, 'it is in a folder below this one')
    mine, other = part_of(folder), part_of(to)
    if mine != other:
        names = INJECT.get(mine[len('inject/'):], '').split() + ['core', ''] if mine.startswith('inject') else []
        if not other.startswith('inject') or other[len('inject/'):] not in names:
            return complain(place, header, f'a private header of {other}')
    folders[folder].setdefault(to, place)


def find_circle():
    """Returns folders that include each other in a circle, or nothing."""
    state = {}

    def visit(folder, way):
        state[folder] = 'open'
        for to in folders.get(folder, {}):
            if state.get(to) == 'open':
                return way[way.index(to):] + [to] if to in way else [folder, to]
            if to not in state:
                found = visit(to, way + [to])
                if found:
                    return found
        state[folder] = 'done'
        return None

    for folder in list(folders):
        if folder not in state:
            found = visit(folder, [folder])
            if found:
                return found
    return None


paths = sorted(os.path.join(root, name) for top in ('include', 'src', 'inject') for root, _, names in os.walk(top)
               for name in names if name.endswith(('.h', '.cpp', '.def')))
for path in paths:
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not found:
            continue
        kind, header = found.groups()
        place, home = f'{path}:{number}', HOME.get(header.split('/')[0])
        if header.startswith('profshim/'):
            check_contract(place, path, header)
        elif home:
            if home != module_of(path):
                complain(place, header, f'only {home} may include this library')
        elif kind == '"':
            check_private(place, path, header)
        elif not is_standard(header):
            complain(place, header, 'neither standard nor given a home in scripts/check_layers.sh')

seen = []
for module, names in MAY.items():
    for name in names.split():
        if name.split('/')[0] not in seen:
            broken.append(f'scripts/check_layers.sh: MAY gives {module} {name}, which is not above it')
    seen.append(module)
circle = find_circle()
if circle:
    places = [folders[a][b] for a, b in zip(circle, circle[1:])]
    broken.append('folders include each other in a circle: ' + ' -> '.join(circle) + ' (' + ', '.join(places) + ')')
for line in broken:
    print(line)
if not broken:
    print('layers: every include is allowed')
sys.exit(1 if broken else 0)
EOF
