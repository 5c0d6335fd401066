import { useRef, useState } from 'preact/hooks'

/** A command with a button that copies it. Where the browser refuses to copy, the command is selected. */
export function CopyCommand({ command }: { readonly command: string }) {
  const text = useRef<HTMLPreElement>(null)
  const [said, setSaid] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command)
      setSaid('Copied')
    } catch {
      if (text.current !== null) getSelection()?.selectAllChildren(text.current)
      setSaid('Selected: press Ctrl+C')
    }
  }
  return (
    <div class="command">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a person scrolls it by keys */}
      <pre ref={text} tabIndex={0} class="scroll">
        {command}
      </pre>
      <button type="button" class="button" onClick={copy}>
        Copy
      </button>
      <span class="small soft" role="status">
        {said}
      </span>
    </div>
  )
}
