// stream_read THREADS BYTES REPEATS: the best bandwidth of reads in bytes/s, of so many threads
// that each go through a part of their own. The reference of bench/bandwidth.cpp: plain loops over
// arrays, compiled for this machine alone, and nothing of src/.

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

namespace {

struct Part {
  pthread_t thread;
  double* begin;
  long count;
  double sum;
  double started;
  double ended;
};

pthread_barrier_t gate;
int repeats;

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// -ffast-math lets the compiler split the one sum as it likes.
double sum_of(const double* p, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++) sum += p[i];
  return sum;
}

void* reader(void* argument) {
  Part* part = static_cast<Part*>(argument);
  for (long i = 0; i < part->count; i++) part->begin[i] = 1.0;
  for (int r = 0; r < repeats; r++) {
    pthread_barrier_wait(&gate);
    part->started = now();
    part->sum = sum_of(part->begin, part->count);
    part->ended = now();
    pthread_barrier_wait(&gate);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int threads = atoi(argv[1]);
  const long bytes = atol(argv[2]);
  repeats = atoi(argv[3]);
  const long count = bytes / static_cast<long>(sizeof(double)) / threads;
  void* memory = nullptr;
  if (posix_memalign(&memory, 2 << 20, static_cast<size_t>(bytes)) != 0) return 1;
  madvise(memory, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  Part* parts = static_cast<Part*>(calloc(static_cast<size_t>(threads), sizeof(Part)));
  pthread_barrier_init(&gate, nullptr, static_cast<unsigned>(threads) + 1);
  for (int t = 0; t < threads; t++) {
    parts[t].begin = static_cast<double*>(memory) + t * count;
    parts[t].count = count;
    pthread_create(&parts[t].thread, nullptr, reader, &parts[t]);
  }
  double best = 0;
  for (int r = 0; r < repeats; r++) {
    pthread_barrier_wait(&gate);  // all begin
    pthread_barrier_wait(&gate);  // all are done; none begins before main is here again
    double started = parts[0].started;
    double ended = parts[0].ended;
    for (int t = 1; t < threads; t++) {
      if (parts[t].started < started) started = parts[t].started;
      if (parts[t].ended > ended) ended = parts[t].ended;
    }
    const double rate = static_cast<double>(count * threads) * sizeof(double) / (ended - started);
    if (rate > best) best = rate;
  }
  for (int t = 0; t < threads; t++) {
    pthread_join(parts[t].thread, nullptr);
    if (parts[t].sum != static_cast<double>(count)) return 3;
  }
  printf("%.0f\n", best);
  return 0;
}
