// Uses CPU, memory, disk and network by known amounts, one after the other, and prints what the kernel counted:
//   busy_process [cpu SECONDS] [memory BYTES] [disk BYTES] [net BYTES] [sleep SECONDS] ...
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <mpi.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr int kParts = 10;
constexpr useconds_t kPause_us = 40'000;  // between parts

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

long number_in(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    long number = 0;
    if (word == key && in >> number) return number;
  }
  return -1;
}

void use_cpu(double seconds) {
  volatile double sum = 0;
  for (const double end = cpu_seconds() + seconds; cpu_seconds() < end;) {
    for (int i = 0; i < 10'000; ++i) sum = sum + i;
  }
}

void use_memory(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  std::memset(memory, 1, bytes);
  usleep(kParts * kPause_us);
  std::printf("rss_kb %ld\n", number_in("/proc/self/status", "VmRSS:"));
  munmap(memory, bytes);
}

void print_time(const char* name) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::printf("%s %lld\n", name, static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec);
}

/// Prints when each part began and ended.
void use_disk(std::size_t bytes) {
  const long before = number_in("/proc/self/io", "write_bytes:");
  const std::string part(bytes / kParts, 'x');
  const int fd = open("written", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < kParts; ++i) {
    print_time("part_began_ns");
    if (write(fd, part.data(), part.size()) < 0) std::abort();
    print_time("part_ended_ns");
    usleep(kPause_us);
  }
  close(fd);
  std::printf("written_bytes %ld\n", number_in("/proc/self/io", "write_bytes:") - before);
}

bool bring_up(int control, const char* name) {
  ifreq request{};
  std::strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return ioctl(control, SIOCSIFFLAGS, &request) == 0;
}

// An interface whose packets this program writes and reads itself (Documentation/networking/tuntap.rst of Linux), in a
// network namespace of its own. Returns -1 if the system does not allow that.
int open_network() {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return -1;
  const int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  const int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (tun < 0 || control < 0 || ioctl(tun, TUNSETIFF, &request) != 0) return -1;
  auto* const address = reinterpret_cast<sockaddr_in*>(&request.ifr_addr);
  address->sin_family = AF_INET;
  inet_pton(AF_INET, "10.9.8.1", &address->sin_addr);
  bool works = ioctl(control, SIOCSIFADDR, &request) == 0;
  inet_pton(AF_INET, "255.255.255.0", &address->sin_addr);
  works = works && ioctl(control, SIOCSIFNETMASK, &request) == 0 && bring_up(control, request.ifr_name) &&
          bring_up(control, "lo");  // for MPI
  close(control);
  return works ? tun : -1;
}

// Receives `bytes` and sends half of them, in packets of 1000 bytes. Prints when each part began and ended.
void use_network(int tun, std::size_t bytes) {
  constexpr std::size_t kPacket = 1000, kHeaders = 28;  // of IPv4 and UDP
  const int out = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  inet_pton(AF_INET, "10.9.8.2", &to.sin_addr);
  std::vector<char> packet(kPacket, 0), read_back(kPacket);
  for (int part = 0; part < kParts; ++part) {
    print_time("part_began_ns");
    for (std::size_t i = 0; i < bytes / kPacket / kParts; ++i) {
      packet[0] = 0x45;  // version 4, header of 20 bytes; the kernel counts the packet, then drops it
      if (write(tun, packet.data(), kPacket) < 0) std::abort();
      if (i % 2 != 0) continue;
      if (sendto(out, packet.data(), kPacket - kHeaders, 0, reinterpret_cast<sockaddr*>(&to), sizeof to) < 0)
        std::abort();
      if (read(tun, read_back.data(), kPacket) < 0) std::abort();
    }
    print_time("part_ended_ns");
    usleep(kPause_us);
  }
  close(out);
}

}  // namespace

int main(int argc, char** argv) {
  bool wants_network = false;
  for (int i = 1; i < argc; ++i) wants_network = wants_network || std::string(argv[i]) == "net";
  const int tun = wants_network ? open_network() : -1;
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string what = argv[i];
    double amount = 0;  // "0.6", whatever the locale of the process
    std::from_chars(argv[i + 1], argv[i + 1] + std::strlen(argv[i + 1]), amount);
    if (what == "cpu") use_cpu(amount);
    if (what == "memory") use_memory(static_cast<std::size_t>(amount));
    if (what == "disk") use_disk(static_cast<std::size_t>(amount));
    if (what == "net" && tun >= 0) use_network(tun, static_cast<std::size_t>(amount));
    if (what == "sleep") usleep(static_cast<useconds_t>(amount * 1e6));
  }
  const auto microseconds = static_cast<long>(cpu_seconds() * 1e6);  // %f follows the locale
  std::printf("cpu_seconds %ld.%06ld\nhas_network %d\n", microseconds / 1000000, microseconds % 1000000,
              tun >= 0 ? 1 : 0);
  std::fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
