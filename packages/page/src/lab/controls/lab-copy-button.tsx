import { useEffect, useState } from 'preact/hooks'

interface LabCopyButtonProps {
  readonly label: string
  readonly text: () => string
}

/** Copies a text, and says that it did. */
export function LabCopyButton({ label, text }: LabCopyButtonProps) {
  const [outcome, setOutcome] = useState<string>()
  useEffect(() => {
    if (outcome === undefined) return
    const timer = setTimeout(() => setOutcome(undefined), 2_000)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      setOutcome('Copied')
    } catch {
      // A browser gives the clipboard to https and to this machine only.
      setOutcome('Not allowed here')
    }
  }
  return (
    <button type="button" class="button" onClick={copy}>
      <span aria-live="polite">{outcome ?? label}</span>
    </button>
  )
}
