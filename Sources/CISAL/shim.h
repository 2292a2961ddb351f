#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

// Compresses bytes as one gzip member (RFC 1952). Swift does not import the large arrays of `isal_zstream`.
//
// Returns the length of the member, or 0 if it does not fit into `capacity` or memory is short.
static inline size_t isal_gzip(const uint8_t *bytes, uint32_t count, uint8_t *member, uint32_t capacity) {
  struct isal_zstream *stream = (struct isal_zstream *)malloc(sizeof(struct isal_zstream));
  uint8_t *level = (uint8_t *)malloc(ISAL_DEF_LVL1_SMALL);
  size_t length = 0;
  if (stream != NULL && level != NULL) {
    isal_deflate_stateless_init(stream);
    stream->next_in = (uint8_t *)bytes;
    stream->avail_in = count;
    stream->next_out = member;
    stream->avail_out = capacity;
    stream->level = 1;
    stream->level_buf = level;
    stream->level_buf_size = ISAL_DEF_LVL1_SMALL;
    stream->end_of_stream = 1;
    stream->flush = NO_FLUSH;
    stream->gzip_flag = IGZIP_GZIP;
    if (isal_deflate_stateless(stream) == COMP_OK) length = stream->total_out;
  }
  free(level);
  free(stream);
  return length;
}
