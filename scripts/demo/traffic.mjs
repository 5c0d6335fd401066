// The demo's traffic: four bursts and a steady trickle, the same for every limit. Times are milliseconds from the start.

export const DURATION_MS = 16_000

/** When each request arrives, in order. */
export function arrivals() {
  const times = []
  const burst = (atMs, requests) => times.push(...Array.from({ length: requests }, (_, i) => atMs + i))
  burst(0, 30)
  for (let atMs = 500; atMs < 4_000; atMs += 250) times.push(atMs)
  // After a quiet time, one burst just before and one just after a boundary of the 4 s window.
  burst(7_800, 20)
  burst(8_050, 20)
  burst(13_000, 30)
  for (let atMs = 13_500; atMs < DURATION_MS; atMs += 250) times.push(atMs)
  return times.sort((a, b) => a - b)
}
