/*
 * Records of a detector's trigger file, built one event at a time. All fields little-endian:
 *
 *   0  u32 format word "TRG1"   4  u32 length of the record   8  u64 event number   16 u32 run   20
 * u32 blocks 24 u64 time, 10 ns ticks    32 blocks x { u32 offset in the record, u32 length }, then
 * the blocks: "PRE ", "POST"  pedestal samples around the trigger: those of the event before, until
 * they are taken anew "MODU"          one module's readout memory of fixed length: u16 module, u16
 * hits, that many zero-suppressed hit words (channel 10 bits, TDC 12, ADC 10, channels ascending),
 * then the module's filler word to the end
 *
 * What compresses in it is long repeats (pedestals one event, 8 to 24 KiB, back; filler), what does
 * not is the hit words, whose bytes are evenly spread: so an entropy coder finds little that lz4
 * does not, as in the published data.
 */
#ifndef TALLY_CORPUS_EVENT_H
#define TALLY_CORPUS_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "statistics/random.h"

#define EVENT_MIN_BYTES UINT32_C(8192)
#define EVENT_MAX_BYTES UINT32_C(24576)
#define EVENT_BUFFER_BYTES (EVENT_MAX_BYTES + EVENT_MIN_BYTES)
#define EVENT_MAX_SEGMENTS 64

/* A stretch of an event as an encoder sees it: new bytes (distance 0), or a repeat of what stands
 * `distance` back. */
struct event_segment {
    uint32_t length;
    uint32_t distance;
};

struct event_builder {
    struct random_stream random;
    uint32_t run;
    uint64_t number;               /* of the next event */
    uint64_t time_ticks;           /* of the last event */
    uint64_t pedestal_position[2]; /* in the file, where PRE and POST were last written; valid when
                                      the length is */
    uint32_t pedestal_bytes[2];
    uint64_t position; /* in the file, of the next event */
    uint8_t pedestals[2][EVENT_BUFFER_BYTES / 8];
    size_t segment_count;
    struct event_segment segments[EVENT_MAX_SEGMENTS];
    uint8_t bytes[EVENT_BUFFER_BYTES]; /* the event built last */
};

/* A file's worth of events, given by the seed's stream `file` alone. */
void event_builder_init(struct event_builder *builder, uint64_t seed, uint64_t file, uint32_t run);

/* The length for the next event when `left` bytes are to be filled; all of them when that is the
 * last event. */
uint32_t event_choose_length(struct event_builder *builder, uint64_t left);

/* Builds the next event of `length` bytes, at most EVENT_BUFFER_BYTES, into builder->bytes and
 * ->segments. */
void event_build(struct event_builder *builder, uint32_t length);

#endif
