import type { JsonSchema } from './route-description.js'

const REFERENCE = '#/components/schemas/'

/** A schema as HTML: a table of its members if it is an object, otherwise one line. */
export function schemaHtml(schema: JsonSchema): string {
  const members = membersOf(schema)
  const about = typeof schema.description === 'string' ? proseHtml(schema.description) : ''
  const forms = formsOf(schema).map(schemaHtml).join('')
  if (members.length === 0) return `${about}${forms === '' ? `<p class="type">${typeHtml(schema)}</p>` : forms}`
  const required = new Set(schema.required as readonly string[] | undefined)
  const rows = members.map(([name, member]) => {
    const optional = required.has(name) ? '' : ' <small>optional</small>'
    const text = typeof member.description === 'string' ? proseHtml(member.description) : ''
    return `<tr><th scope="row"><code>${escapeHtml(name)}</code>${optional}</th><td><span class="type">${typeHtml(member)}</span>${text}${nested(member)}</td></tr>`
  })
  return `${about}<div class="scroll"><table class="members"><tbody>${rows.join('')}</tbody></table></div>${forms}`
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
  if (inner === undefined || (membersOf(inner).length === 0 && formsOf(inner).length === 0)) return ''
  return schemaHtml({ ...inner, description: undefined })
}

/** The forms that an object may have, each with its own members. */
function formsOf({ anyOf = [], allOf = [] }: JsonSchema): readonly JsonSchema[] {
  const cases = (allOf as readonly JsonSchema[]).map(caseOf)
  return [...(anyOf as readonly JsonSchema[]), ...cases].filter((each) => membersOf(each).length > 0)
}

/** The branch of an `if`, with the members that the condition fixes: `algorithm` is `token-bucket`. */
function caseOf(schema: JsonSchema): JsonSchema {
  const [condition, branch] = [schema.if ?? {}, schema.then ?? {}] as JsonSchema[]
  return {
    ...branch,
    required: [condition, branch].flatMap(({ required = [] }) => required as readonly string[]),
    properties: Object.fromEntries([...membersOf(branch), ...membersOf(condition)]),
  }
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
  if (alternatives !== undefined) return alternatives.map(alternativeHtml).join(' or ')
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

/** Objects are told apart by their members. */
function alternativeHtml(schema: JsonSchema): string {
  const names = membersOf(schema).map(([name]) => `<code>${escapeHtml(name)}</code>`)
  return names.length === 0 ? typeHtml(schema) : `object with ${names.join(', ')}`
}

/** The two branches of `if`: one of them holds. */
function eitherOf(schema: JsonSchema): readonly unknown[] | undefined {
  return schema.if !== undefined && schema.else !== undefined ? [schema.else, schema.then] : undefined
}
