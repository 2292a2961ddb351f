/// Every metric of the server. `docs/metrics.md` explains each of them for operators.
extension MetricSeries {
  package static let all: [MetricSeries] = http + writer + views + live + push + erasure + process

  // MARK: HTTP

  package static let requests = MetricSeries(
    "hansard_http_requests_total", .counter, "Requests that have a response, by route, method and status.",
    hidesUnused: true)
  package static let requestSeconds = MetricSeries(
    "hansard_http_request_duration_seconds",
    .histogram(bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]),
    "Time until the head of the response, by route and method.", hidesUnused: true)
  package static let requestsInFlight = MetricSeries(
    "hansard_http_requests_in_flight", .gauge, "Requests that have no response yet.")
  package static let directMessages = MetricSeries(
    "hansard_http_direct_messages_total", .counter, "Messages that were sent without the router.")
  package static let connections = MetricSeries("hansard_http_connections", .gauge, "Open connections of clients.")

  package static let handshakes = MetricSeries(
    "hansard_tls_handshakes_total", .counter, "TLS handshakes, by result.")

  private static let http = [requests, requestSeconds, requestsInFlight, directMessages, connections, handshakes]

  // MARK: The writer and the log

  package static let writerQueue = MetricSeries(
    "hansard_writer_queue_commands", .gauge, "Commands that wait for the writer.")
  package static let batchCommands = MetricSeries(
    "hansard_writer_batch_commands", .histogram(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024]),
    "Commands of each batch, including those that led to no events.")
  package static let batchBytes = MetricSeries(
    "hansard_writer_batch_bytes", .histogram(bounds: [512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576]),
    "Bytes of the records of each block, before compression.")
  package static let commitSeconds = MetricSeries(
    "hansard_writer_commit_duration_seconds",
    .histogram(bounds: [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1]),
    "Time to compress, write and sync each block.")
  package static let syncSeconds = MetricSeries(
    "hansard_log_sync_duration_seconds",
    .histogram(bounds: [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1]),
    "Time of each sync of the log.")
  package static let logPosition = MetricSeries(
    "hansard_log_position", .gauge, "Position of the last durable event.")
  package static let logPoisoned = MetricSeries(
    "hansard_log_poisoned", .gauge, "1 if the log accepts no more events until the server is restarted.")
  package static let segmentsToSeal = MetricSeries(
    "hansard_log_segments_to_seal", .gauge, "Full segments that are not sealed yet.")
  package static let sealSeconds = MetricSeries(
    "hansard_log_seal_duration_seconds", .histogram(bounds: [0.5, 1, 2.5, 5, 10, 30, 60]),
    "Time to seal each segment.")
  package static let sealFailures = MetricSeries(
    "hansard_log_seal_failures_total", .counter, "Attempts to seal a segment that failed.")

  private static let writer = [
    writerQueue, batchCommands, batchBytes, commitSeconds, syncSeconds, logPosition, logPoisoned, segmentsToSeal,
    sealSeconds, sealFailures,
  ]

  // MARK: Views

  package static let viewPosition = MetricSeries(
    "hansard_view_position", .gauge, "Position of the last event that each view has applied.")
  package static let viewLag = MetricSeries(
    "hansard_view_lag_events", .gauge, "Durable events that each view has not applied yet.")
  package static let viewReadable = MetricSeries(
    "hansard_view_readable", .gauge, "1 if the view can be read and follows the log.")
  package static let viewFileBytes = MetricSeries(
    "hansard_sqlite_file_bytes", .gauge, "Size of each view's file.")
  package static let viewWALBytes = MetricSeries(
    "hansard_sqlite_wal_bytes", .gauge, "Size of each view's write-ahead log.")
  package static let checkpoints = MetricSeries(
    "hansard_sqlite_checkpoints_total", .counter,
    "Passes that copied a write-ahead log into its file, by the thread that made them.")
  package static let checkpointsBusy = MetricSeries(
    "hansard_sqlite_checkpoints_busy_total", .counter,
    "Passes that could not copy all of a write-ahead log, because a reader or the writer was using it.")

  private static let views = [
    viewPosition, viewLag, viewReadable, viewFileBytes, viewWALBytes, checkpoints, checkpointsBusy,
  ]

  // MARK: Streams

  package static let streams = MetricSeries("hansard_streams", .gauge, "Open live streams, by transport.")
  package static let streamItems = MetricSeries(
    "hansard_stream_items_total", .counter, "Items that were sent on live streams, by transport.")
  package static let streamsEnded = MetricSeries(
    "hansard_streams_ended_total", .counter, "Live streams that ended, by transport and reason.", hidesUnused: true)
  package static let subscriptions = MetricSeries(
    "hansard_live_subscriptions", .gauge, "Live streams, and requests of the sync that wait for changes.")

  private static let live = [streams, streamItems, streamsEnded, subscriptions]

  // MARK: Push

  package static let pushAttempts = MetricSeries(
    "hansard_push_attempts_total", .counter, "Notifications that were sent to a provider, by provider and result.",
    hidesUnused: true)
  package static let pushSeconds = MetricSeries(
    "hansard_push_attempt_duration_seconds", .histogram(bounds: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15]),
    "Time until a provider responded.", hidesUnused: true)
  package static let pushProviderState = MetricSeries(
    "hansard_push_provider_state", .gauge, "1 for the state that each provider is in, 0 for the others.")
  package static let pushWaiting = MetricSeries(
    "hansard_push_waiting", .gauge, "Notifications in the outbox that have no recorded outcome.")

  private static let push = [pushAttempts, pushSeconds, pushProviderState, pushWaiting]

  // MARK: Erasure

  package static let erasuresPending = MetricSeries(
    "hansard_erasures_pending", .gauge, "Deleted accounts whose erasure is not complete, by what it waits for.")
  package static let erasureCompletedAt = MetricSeries(
    "hansard_erasure_last_completed_timestamp_seconds", .gauge,
    "When the last erasure was completed, in seconds since 1970; 0 if none was.")

  private static let erasure = [erasuresPending, erasureCompletedAt]

  // MARK: The process

  package static let freeBytes = MetricSeries(
    "hansard_disk_free_bytes", .gauge, "Free space on the file system of each directory of the data.")
  package static let residentBytes = MetricSeries("process_resident_memory_bytes", .gauge, "Resident memory.")
  package static let processorSeconds = MetricSeries(
    "process_cpu_seconds_total", .counter, "Processor time of the process, user and system.")
  package static let openFiles = MetricSeries(
    "process_open_fds", .gauge, "Open file descriptors: files, connections and others.")
  package static let maximumFiles = MetricSeries("process_max_fds", .gauge, "Limit on open file descriptors.")
  package static let seriesRefused = MetricSeries(
    "hansard_metrics_series_refused_total", .counter, "Series that were not kept, because there are too many.")

  package static let isOpen = MetricSeries(
    "hansard_open", .gauge, "1 once the data is open, 0 while the server opens it or builds read models.")

  private static let process = [
    isOpen, freeBytes, residentBytes, processorSeconds, openFiles, maximumFiles, seriesRefused,
  ]
}
