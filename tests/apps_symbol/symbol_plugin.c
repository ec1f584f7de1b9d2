// The job loads this library while it runs.
volatile int plugin_sink;
int shape_plugin(int n) {
  plugin_sink = n;
  return n + 1;
}
