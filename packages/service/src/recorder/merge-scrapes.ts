/**
 * Puts the metrics of several processes into one text, as if one process had written it: each metric once, with the samples
 * of all processes behind it. A label `worker` tells them apart.
 *
 * `texts` are those of `ServiceRecorder.prometheus`, by the name of the process.
 */
export function mergeScrapes(texts: ReadonlyMap<string, string>): string {
  /** By the two lines that begin a metric. */
  const metrics = new Map<string, string[]>()
  for (const [worker, text] of texts) {
    let samples: string[] = []
    let help = ''
    for (const line of text.split('\n')) {
      if (line.startsWith('# HELP ')) help = line
      else if (line.startsWith('# TYPE ')) {
        const head = `${help}\n${line}`
        samples = metrics.get(head) ?? []
        metrics.set(head, samples)
      } else if (line !== '') samples.push(withLabel(line, `worker="${worker}"`))
    }
  }
  return [...metrics].map(([head, samples]) => `${[head, ...samples].join('\n')}\n`).join('')
}

/** A name of a metric has neither braces nor spaces, so the first one ends it. */
function withLabel(sample: string, label: string): string {
  const end = sample.search(/[{ ]/)
  const labels = sample[end] === '{' ? `{${label},${sample.slice(end + 1)}` : `{${label}}${sample.slice(end)}`
  return sample.slice(0, end) + labels
}
