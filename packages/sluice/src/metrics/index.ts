/** `sluice/metrics`: counts the decisions of this process, for Prometheus, OpenTelemetry or your own eyes. */
export { createRecorder, type Recorder, type RecorderOptions, type RecorderReading } from './create-recorder.js'
export type { LevelReading, OutcomeCounts, SeriesReading } from './decision-series.js'
export { DURATION_BOUNDS_MS, DurationHistogram, type DurationReading, durationQuantile } from './duration-histogram.js'
export { type MeterLike, observeRecorder } from './observe-recorder.js'
export { type MetricLabels, PROMETHEUS_CONTENT_TYPE, PrometheusText } from './prometheus-text.js'
export { writeDecisions } from './write-decisions.js'
