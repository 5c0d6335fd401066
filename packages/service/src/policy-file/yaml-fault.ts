import type { YAMLParseError } from 'yaml'
import type { Fault } from './source-node.js'

export const SPACES_FOR_TABS = 'a tab indents this: use spaces'

/** Plainer words for some of the parser's errors. */
const PLAINLY: Readonly<Partial<Record<YAMLParseError['code'], string>>> = {
  TAB_AS_INDENT: SPACES_FOR_TABS,
  MULTILINE_IMPLICIT_KEY: "a key must be on one line, with ': ' after it",
  BLOCK_AS_IMPLICIT_KEY: "this is one value too many in the line: after 'key: ' comes one value, or a new line",
  KEY_OVER_1024_CHARS: 'a key must be at most 1,024 characters long',
}

const SAID_OF_KEYS = 'Implicit map keys need to be followed by map values'
const SAID_OF_INDENT = 'All mapping items must start at the same column'

export function yamlFault({ code, message, pos }: YAMLParseError): Fault {
  return { offset: Math.max(0, pos[0]), message: PLAINLY[code] ?? plainly(message) }
}

function plainly(message: string): string {
  if (message === SAID_OF_KEYS) return "': ' and a value are missing after this key"
  if (message === SAID_OF_INDENT) return 'all keys of a map must begin in the same column'
  return `this is not YAML: ${message.charAt(0).toLowerCase()}${message.slice(1, 200)}`
}
