import { Composer, type CST, type Document, Lexer, Parser } from 'yaml'
import { DEEPEST, type Fault, type ReadText, TOO_DEEP } from './source-node.js'
import { SCALAR_NEXT, withoutSimpleFlows } from './without-simple-flows.js'
import { SPACES_FOR_TABS, yamlFault } from './yaml-fault.js'
import { FinishedItems, yamlNode } from './yaml-node.js'

/**
 * YAML 1.2, whatever a directive says. `buildData` finds duplicate keys: the parser would compare each key with each
 * other key, which takes minutes for a long map.
 */
const OPTIONS = { version: '1.2', schema: 'core', merge: false, resolveKnownTags: false, uniqueKeys: false } as const

/** How many lexemes the parser holds before finished list items are converted to nodes, and how many at most. */
const HELD_BEFORE_FINISHING = 50_000
const MOST_HELD = 1_000_000
/** How many lexemes are parsed at most. A hundred thousand overrides of seven lines each have three million. */
const MOST_PARSED = 4_000_000
const MOST_DIRECTIVES = 10
const MOST_ERRORS = 1_000

const TOO_MUCH =
  "there is too much up to here: write long lists with one '- ' item a line, or the whole file as JSON, which takes less to read"

/** Reads YAML in bounded time and memory: it stops before it exceeds a bound, not afterwards. */
export function readYaml(text: string): ReadText {
  return new YamlReader().read(text)
}

class YamlReader {
  readonly #parser = new Parser()
  readonly #composer = new Composer(OPTIONS)
  readonly #faults: Fault[] = []
  readonly #documents: Document.Parsed[] = []
  readonly #finished = new FinishedItems()
  #parsed = 0
  #held = 0
  #finishAt = HELD_BEFORE_FINISHING
  /** How many tokens were passed to the composer, which keeps them. */
  #passed = 0
  #errors = 0
  #directives = 0
  #documentTokens = 0
  #isText = false

  read(text: string): ReadText {
    for (const lexeme of withoutSimpleFlows(text, new Lexer().lex(text), this.#finished.flows)) {
      if (this.#stopsAt(lexeme)) return { node: undefined, faults: this.#faults }
      this.#feed(this.#parser.next(lexeme))
      if (this.#documentTokens > 1 || this.#errors + this.#faults.length > MOST_ERRORS) break
      if (this.#held > this.#finishAt && lexeme.endsWith('\n')) this.#finishItems()
    }
    this.#feed(this.#parser.end())
    this.#documents.push(...(this.#composer.end() as Iterable<Document.Parsed>))
    const [document] = this.#documents
    if (document === undefined) return { node: undefined, faults: this.#faults }
    this.#take(document)
    const isEmpty = document.contents === null || document.contents.range?.[1] === document.contents.range?.[0]
    return { node: isEmpty ? undefined : yamlNode(document.contents, this.#finished), faults: this.#faults }
  }

  /** Checks a lexeme before it is parsed. Returns true if reading must stop here because of a bound. */
  #stopsAt(lexeme: string): boolean {
    const offset = this.#parser.offset
    const isText = this.#isText
    this.#isText = lexeme === SCALAR_NEXT
    if (isText) return false
    this.#parsed++
    this.#held++
    if (lexeme.startsWith('!')) this.#add(offset, `tags such as ${lexeme.slice(0, 40)} are not supported: leave it out`)
    if (lexeme.startsWith('%')) this.#directive(offset, lexeme)
    if (this.#directives > MOST_DIRECTIVES) return this.#stop(offset, 'there are too many directives')
    if (this.#parser.stack.length > DEEPEST + 2) return this.#stop(offset, TOO_DEEP)
    return (this.#held > MOST_HELD || this.#parsed > MOST_PARSED) && this.#stop(offset, TOO_MUCH)
  }

  #directive(offset: number, line: string): void {
    this.#directives++
    if (/^%YAML\s+1\.2\s*$/.test(line)) return
    this.#add(offset, `the directive ${line.trim().slice(0, 40)} is not supported: leave it out (this is YAML 1.2)`)
  }

  #feed(tokens: Iterable<CST.Token>): void {
    for (const token of tokens) {
      this.#passed++
      if (token.type === 'error') this.#errors++
      if (token.type === 'document' && ++this.#documentTokens > 1) {
        if (this.#documentTokens === 2)
          this.#add(token.offset, 'a second document begins here, but a file holds one policy')
        continue
      }
      this.#documents.push(...(this.#composer.next(token) as Iterable<Document.Parsed>))
    }
  }

  /** Converts all but the last items of lists to nodes, and frees their tokens, which are ten times as large. */
  #finishItems(): void {
    for (const token of this.#parser.stack) {
      if (token.type !== 'block-seq' || token.items.length < 2) continue
      const value: CST.BlockSequence = { ...token, items: token.items.splice(0, token.items.length - 1) }
      const composer = new Composer(OPTIONS)
      const document: CST.Document = { type: 'document', offset: token.offset, start: [], value }
      const [part] = [...composer.next(document), ...composer.end()] as Document.Parsed[]
      this.#take(part)
      this.#finished.add(token.offset, part.contents)
    }
    this.#held = this.#parser.stack.reduce((sum, token) => sum + lexemesIn(token), this.#passed)
    this.#finishAt = this.#held + HELD_BEFORE_FINISHING
  }

  #take({ errors }: Document.Parsed): void {
    for (const error of errors) {
      // `#stopsAt` reports these with better messages.
      if (error.code === 'TAG_RESOLVE_FAILED' || error.code === 'BAD_DIRECTIVE') continue
      const fault = yamlFault(error)
      // After one tab the parser repeats the error for every token of the line.
      if (fault.message === SPACES_FOR_TABS && this.#faults.at(-1)?.message === SPACES_FOR_TABS) continue
      this.#faults.push(fault)
    }
  }

  #add(offset: number, message: string): void {
    this.#faults.push({ offset, message })
  }

  #stop(offset: number, message: string): true {
    for (const document of this.#documents) this.#take(document)
    this.#add(offset, message)
    return true
  }
}

/** The approximate number of lexemes of an item. */
function lexemesOf({ start, key, sep, value }: CST.CollectionItem): number {
  return start.length + (sep?.length ?? 0) + lexemesIn(key) + lexemesIn(value)
}

function lexemesIn(token: CST.Token | null | undefined): number {
  if (token === null || token === undefined) return 0
  if ('items' in token) return token.items.reduce((sum, item) => sum + lexemesOf(item as CST.CollectionItem), 2)
  return 1 + ('end' in token ? (token.end?.length ?? 0) : 0)
}
