// Everything about traces: events, writer, reader, and JSON. Include the part that is needed instead of this.
#pragma once

#include "profshim/json.h"
#include "profshim/trace/events.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/writer.h"
