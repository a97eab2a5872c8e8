//! Memory of the recorder's own, in mappings apart from the heap of the application.
//!
//! A block of the recorder's that lay between or above those of a module would decide when the C library gives
//! memory back to the system and takes it again, which can cost more than the call. So whatever this library
//! allocates comes from here, and the application's heap is laid out as without the recorder. What it cannot reach
//! is what C code allocates: the loader's notes of a library, and the hashes of the writer's thread, which has a
//! heap of its own in the C library.

use dlmalloc::GlobalDlmalloc;

#[global_allocator]
static HEAP: GlobalDlmalloc = GlobalDlmalloc;
