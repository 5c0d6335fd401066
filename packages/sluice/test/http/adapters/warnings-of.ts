/** A store of an earlier test file in this process may still warn that its server is away. */
const OF_EARLIER_FILES = /_UNAVAILABLE$/

/** The code and the message of each process warning of Sluice that `run` leads to, except those of outages. */
export async function warningsOf(run: () => Promise<unknown>): Promise<[code: string, message: string][]> {
  const warnings: [string, string][] = []
  const note = (warning: Error & { code?: string }) => {
    const { name, code = '', message } = warning
    if (name === 'SluiceWarning' && !OF_EARLIER_FILES.test(code)) warnings.push([code, message])
  }
  process.on('warning', note)
  try {
    await run()
    // A warning is emitted in the next tick.
    await new Promise((resolve) => setImmediate(resolve))
    return warnings
  } finally {
    process.off('warning', note)
  }
}
