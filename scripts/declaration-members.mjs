// Reads what a declaration file says of one name: its text, and the members of an interface or class, those of interfaces that it
// extends included. It works on the text that tsc writes, as declarations.mjs does.
import { DECLARATION, firstSentence } from './declarations.mjs'

/** The texts of a declaration without comments, `export` and `declare`, one for each overload: `function one(): void`. */
export function declarationTexts(text, name) {
  return startsOf(text, name).map((start) =>
    statementFrom(text, start)
      .replace(/\/\*\*.*?\*\/\s*/gs, '')
      .replace(/^(?:export |declare )+/, '')
      .replace(/;$/, ''),
  )
}

/** The types that an interface or class extends: `LimiterMethods<false>`. Those of its type parameters are none of them. */
export function basesOf(text, name) {
  const [head] = declarationTexts(text, name)[0]?.split(' {\n') ?? ['']
  const words = splitList(head, ' ')
  const at = words.indexOf('extends')
  if (at < 0) return []
  return splitList(
    words
      .slice(at + 1)
      .join(' ')
      .split(' implements ')[0],
  )
}

/** The parts of a list at the top level: `A<B, C>, D` has `A<B, C>` and `D`. */
export function splitList(list, separator = ',') {
  const parts = ['']
  let depth = 0
  for (const [at, sign] of [...list].entries()) {
    if ('<([{'.includes(sign)) depth++
    if ('])}'.includes(sign) || (sign === '>' && list[at - 1] !== '=')) depth--
    if (sign === separator && depth === 0) parts.push('')
    else parts[parts.length - 1] += sign
  }
  return parts.map((part) => part.trim()).filter(Boolean)
}

/**
 * The public members that an interface or class declares itself, without those that must be left out.
 * @returns {{ name: string, text: string, summary: string | undefined }[]} `text` is on one line: `cost?: number`
 */
export function ownMembers(text, name) {
  const [start] = startsOf(text, name)
  if (start === undefined) return []
  const lines = statementFrom(text, start).split('\n').slice(1, -1)
  const members = []
  let comment = ''
  let open = []
  for (const line of lines.map((each) => each.slice(4))) {
    if (open.length === 0 && (line.startsWith('/**') || line.startsWith(' *'))) comment += `${line}\n`
    else open.push(line)
    if (open.length === 0 || !line.endsWith(';') || line.startsWith(' ')) continue
    members.push({ ...memberOf(open.join('\n')), summary: firstSentence(comment.replace(/^\/\*\*|\*\/\s*$/g, '')) })
    comment = ''
    open = []
  }
  return members.filter((member) => member.name !== undefined && !/\?: undefined$/.test(member.text))
}

function memberOf(text) {
  if (/^(?:#|private |protected |static #)/.test(text)) return { name: undefined, text }
  const line = text
    .replace(/\/\*\*.*?\*\/\s*/gs, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/;$/, '')
    .replace(/\breadonly (?=(?:[\w$']+\??|\[[^\]]*\]):)/g, '')
    .replace(/^readonly ([\w$]+) = "?(.*?)"?$/, "$1: '$2'")
    .replace(/: '(true|false)'$/, ': $1')
  return { name: /^(?:get |set |static |readonly )*([\w$]+|\[[^\]]+\])/.exec(line)?.[1], text: line }
}

/** Where the declarations of a name begin, overloads included. */
function startsOf(text, name) {
  return [...text.matchAll(DECLARATION)].filter(([, , each]) => each === name).map(({ index }) => index)
}

/** The declaration that begins at a place of a text, to its closing brace or to its `;`. */
function statementFrom(text, start) {
  const rest = text.slice(start)
  if (/^(?:export )?(?:declare )?(?:abstract )?(?:interface|class) /.test(rest))
    return /^.*?^\}/ms.exec(rest)?.[0] ?? ''
  const [statement] = splitList(rest.replace(/\/\*\*.*?\*\/\s*/gs, ''), ';')
  return statement
}
