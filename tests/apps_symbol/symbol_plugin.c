// A library, loaded while the job runs.
volatile int plugin_sink;
int shape_plugin(int n) {
  plugin_sink = n;
  return n + 1;
}
