// Finds the functions of a TypeScript or Lua source and the lines each of them spans. It matches brackets and
// keywords in masked source; it is no parser, so it finds only functions that are written in the usual ways.
import { maskSource } from './mask-source.mjs'

const opening = '([{'
const closing = ')]}'
/** `function name(`, a method `name(` at the start of a line, or the arrow of `=> {`. */
const head =
  /\bfunction\b\s*\*?\s*(?<declared>[\w$]*)|^[ \t]*(?:(?:public|protected|private|static|override|async|get|set)\s+)*\*?\s*(?<method>#?[\w$]+|\[[\w.]+\])\s*(?=[<(])|=>\s*(?=\{)/gm
const statements = /^(?:if|for|while|switch|catch|return|super|await|function|typeof|new)$/
/** Before `{`, these say that a type goes on; anything else says that the function's body begins. */
const typeGoesOn = /(?:[:|&<,([]|=>|\bis|\bextends|\bkeyof)$/

/**
 * @param {string} source
 * @param {'ts' | 'lua'} language
 * @returns {{ name: string, line: number, lines: number }[]} `line` is that of the head, from 1
 */
export function findFunctions(source, language) {
  return language === 'lua' ? luaFunctions(maskLua(source)) : scriptFunctions(maskSource(source))
}

function scriptFunctions(code) {
  const found = []
  for (const match of code.matchAll(head)) {
    const { declared, method } = match.groups
    if (method && statements.test(method)) continue
    const after = match.index + match[0].length
    const body = match[0].startsWith('=>') ? after : bodyAfterHead(code, after)
    if (body === -1) continue
    const from = match.index + match[0].search(/\S/)
    found.push(spanned(code, from, matching(code, body), declared || method || arrowName(code, from)))
  }
  return found
}

/** Where the body's `{` is, or -1 for a call, an overload or a method of an interface. */
function bodyAfterHead(code, start) {
  let at = skipSpace(code, start)
  if (code[at] === '<') at = skipSpace(code, afterTypeParameters(code, at))
  if (code[at] !== '(') return -1
  at = matching(code, at) + 1
  while (code[at] === ' ') at++
  if (code[at] === ':') at = afterReturnType(code, at)
  return code[at] === '{' ? at : -1
}

function afterTypeParameters(code, start) {
  let depth = 0
  for (let at = start; at < code.length; at++) {
    if (opening.includes(code[at])) at = matching(code, at)
    else if (code[at] === '<') depth++
    else if (code[at] === '>' && code[at - 1] !== '=' && --depth === 0) return at + 1
  }
  return code.length
}

/** Passes over a type such as `: Promise<{ a: number }>`; stops at the body or where a line ends without one. */
function afterReturnType(code, start) {
  for (let at = start; at < code.length; at++) {
    const goesOn = typeGoesOn.test(code.slice(Math.max(start, at - 20), at).trimEnd())
    if (code[at] === '{' && !goesOn) return at
    if (opening.includes(code[at])) at = matching(code, at)
    else if (';)}'.includes(code[at]) || (code[at] === '\n' && !goesOn && !/^\s*[|&]/.test(code.slice(at)))) return at
  }
  return code.length
}

function matching(code, open) {
  let depth = 0
  for (let at = open; at < code.length; at++) {
    if (opening.includes(code[at])) depth++
    else if (closing.includes(code[at]) && --depth === 0) return at
  }
  return code.length
}

function skipSpace(code, start) {
  let at = start
  while (/\s/.test(code[at] ?? '')) at++
  return at
}

function arrowName(code, arrow) {
  return /(?:const|let)\s+([\w$]+)[^\n]*$/.exec(code.slice(0, arrow))?.[1] ?? 'a function'
}

function luaFunctions(code) {
  const found = []
  const open = []
  for (const match of code.matchAll(/\bfunction\b\s*([\w.:]*)|\b(?:if|do|repeat)\b|\b(?:end|until)\b/g)) {
    if (/^(?:end|until)/.test(match[0])) {
      const { isFunction, index, name } = open.pop() ?? {}
      if (isFunction) found.push(spanned(code, index, match.index, name || 'a function'))
    } else open.push({ isFunction: match[0].startsWith('function'), index: match.index, name: match[1] })
  }
  return found.sort((a, b) => a.line - b.line)
}

/** Blanks comments and strings. */
function maskLua(source) {
  return source.replace(/--\[\[.*?\]\]|--[^\n]*|\[\[.*?\]\]|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/gs, (text) =>
    text.replace(/[^\n]/g, ' '),
  )
}

function spanned(code, from, to, name) {
  const line = code.slice(0, from).split('\n').length
  return { name, line, lines: code.slice(from, to).split('\n').length }
}
