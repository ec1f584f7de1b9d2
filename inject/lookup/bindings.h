#pragma once

namespace profshim::inject {

/// Lets the calls of hooked functions in newly loaded files reach the hooks where RTLD_DEEPBIND has bound them past
/// this library: writes the hooks into the files' tables of addresses. Call at each lookup by a handle, since a program
/// that opens a library looks functions up before it calls them. `handle`: of the lookup, or null. Cheap if nothing was
/// loaded since the last call. Any thread.
void rebind_new_files(void* handle);

}  // namespace profshim::inject
