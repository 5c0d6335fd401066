import type { JsonSchema } from './route-description.js'

const REFERENCE = '#/components/schemas/'

/** A schema as HTML: a table of its members if it is an object, otherwise one line. */
export function schemaHtml(schema: JsonSchema): string {
  const members = membersOf(schema)
  const about = typeof schema.description === 'string' ? proseHtml(schema.description) : ''
  if (members.length === 0) return `${about}<p class="type">${typeHtml(schema)}</p>`
  const required = new Set(schema.required as readonly string[] | undefined)
  const rows = members.map(([name, member]) => {
    const optional = required.has(name) ? '' : ' <small>optional</small>'
    const text = typeof member.description === 'string' ? proseHtml(member.description) : ''
    return `<tr><th scope="row"><code>${escapeHtml(name)}</code>${optional}</th><td><span class="type">${typeHtml(member)}</span>${text}${nested(member)}</td></tr>`
  })
  return `${about}<div class="scroll"><table class="members"><tbody>${rows.join('')}</tbody></table></div>`
}

/** Text as paragraphs. Text between backticks is code. */
export function proseHtml(text: string): string {
  const paragraphs = text.split('\n\n').map((each) => escapeHtml(each).replaceAll(/`([^`]+)`/g, '<code>$1</code>'))
  return `<p>${paragraphs.join('</p><p>')}</p>`
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** The members of an object or, of a list of objects, of each of them. */
function nested(schema: JsonSchema): string {
  const inner = (schema.type === 'array' ? schema.items : schema) as JsonSchema | undefined
  return inner === undefined || membersOf(inner).length === 0 ? '' : schemaHtml({ ...inner, description: undefined })
}

function membersOf(schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  return Object.entries((schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>)
}

/** What a value looks like, in words: `integer, 0 or more`. */
function typeHtml(schema: JsonSchema): string {
  const {
    $ref,
    const: constant,
    enum: choices,
    type,
    items,
    anyOf,
    minimum,
    maximum,
    default: otherwise,
    pattern,
  } = schema
  if (typeof $ref === 'string') {
    const name = escapeHtml($ref.replace(REFERENCE, ''))
    return `<a href="#schema-${name}">${name}</a>`
  }
  const alternatives = (anyOf ?? schema.oneOf ?? eitherOf(schema)) as readonly JsonSchema[] | undefined
  if (alternatives !== undefined) return alternatives.map(typeHtml).join(' or ')
  if (constant !== undefined) return `<code>${escapeHtml(JSON.stringify(constant))}</code>`
  if (Array.isArray(choices))
    return choices.map((each) => `<code>${escapeHtml(JSON.stringify(each))}</code>`).join(', ')
  if (type === 'array') return `list of ${items === undefined ? 'anything' : typeHtml(items as JsonSchema)}`
  const words = [
    Array.isArray(type) ? type.join(' or ') : String(type ?? 'anything'),
    ...(minimum !== undefined && (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER)
      ? [`${minimum} or more`]
      : []),
    ...(minimum !== undefined && maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER
      ? [`${minimum} to ${maximum}`]
      : []),
    ...(otherwise === undefined ? [] : [`default ${JSON.stringify(otherwise)}`]),
  ]
  const like = typeof pattern === 'string' ? ` like <code>${escapeHtml(pattern)}</code>` : ''
  return `${escapeHtml(words.join(', '))}${like}`
}

/** The two branches of `if`: one of them holds. */
function eitherOf(schema: JsonSchema): readonly unknown[] | undefined {
  return schema.if !== undefined && schema.else !== undefined ? [schema.else, schema.then] : undefined
}
