/** The code and the message of each process warning of Sluice that `run` leads to. */
export async function warningsOf(run: () => Promise<unknown>): Promise<[code: string, message: string][]> {
  const warnings: [string, string][] = []
  const note = (warning: Error & { code?: string }) => {
    if (warning.name === 'SluiceWarning') warnings.push([warning.code ?? '', warning.message])
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
