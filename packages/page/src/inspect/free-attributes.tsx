import { useEffect, useRef, useState } from 'preact/hooks'
import { changeAddress } from '../shell/page-address.js'
import { attributeValues } from './asked-request.js'

interface Row {
  readonly id: number
  readonly name: string
  readonly value: string
}

interface FreeAttributesProps {
  /** These have fields of their own. */
  readonly known: readonly string[]
  readonly attributes: Readonly<Record<string, string>>
}

/** Rows for attributes that the policy does not ask about. A row without a name or a value is not in the address yet. */
export function FreeAttributes({ known, attributes }: FreeAttributesProps) {
  const [rows, setRows] = useState<readonly Row[]>([])
  const lastId = useRef(0)
  const others = Object.fromEntries(Object.entries(attributes).filter(([name]) => !known.includes(name)))
  const othersText = JSON.stringify(others)
  // The address may change from elsewhere: by a link, by a hint, by the button "back".
  useEffect(() => {
    setRows((before) => {
      if (JSON.stringify(attributesOf(before)) === othersText) return before
      const read: Record<string, string> = JSON.parse(othersText)
      return Object.entries(read).map(([name, value]) => ({ id: ++lastId.current, name, value }))
    })
  }, [othersText])
  const put = (next: readonly Row[]) => {
    setRows(next)
    changeAddress(attributeValues(attributesOf(next), attributesOf(rows)))
  }
  const change = (id: number, part: Partial<Row>) => put(rows.map((row) => (row.id === id ? { ...row, ...part } : row)))
  return (
    <>
      {rows.map(({ id, name, value }, i) => (
        <div key={id} class="free">
          <input
            class="text mono"
            aria-label={`Name of attribute ${i + 1}`}
            placeholder="name"
            value={name}
            spellcheck={false}
            autocapitalize="off"
            onInput={(event) => change(id, { name: event.currentTarget.value.trim() })}
          />
          <input
            class="text mono"
            aria-label={`Value of ${name === '' ? `attribute ${i + 1}` : name}`}
            placeholder="value"
            value={value}
            spellcheck={false}
            autocapitalize="off"
            onInput={(event) => change(id, { value: event.currentTarget.value })}
          />
          <button
            type="button"
            class="button quiet"
            aria-label={`Remove ${name === '' ? `attribute ${i + 1}` : name}`}
            onClick={() => put(rows.filter((row) => row.id !== id))}
          >
            ✕
          </button>
        </div>
      ))}
      <button
        type="button"
        class="button quiet add"
        onClick={() => setRows([...rows, { id: ++lastId.current, name: '', value: '' }])}
      >
        + Attribute
      </button>
    </>
  )
}

function attributesOf(rows: readonly Row[]): Record<string, string> {
  return Object.fromEntries(
    rows.filter(({ name, value }) => name !== '' && value !== '').map(({ name, value }) => [name, value]),
  )
}
