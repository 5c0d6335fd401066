// Blanks comments and the insides of strings, templates and regular expressions in TypeScript, so that a plain search
// finds only code. It is not a parser: it reads a regular expression right after `)` or `}` as a division.

const token =
  /(?<comment>\/\/[^\n]*|\/\*.*?(?:\*\/|$))|(?<string>'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?)|(?<word>[\w$]+)|(?<space>\s+)|(?<mark>.)/sy
const regex = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y
const templateText = /(?:\\.|\$(?!\{)|[^`\\$])*/sy
const beforeRegex = /^(?:return|typeof|case|in|of|await|void|delete|instanceof|new|yield|throw|else|do|[^\w$)\]}])$/

/** Text of the same length with the same line breaks and quotes, in which only code is left. */
export function maskSource(source) {
  let masked = ''
  let previous = ';'
  const openBraces = [] // one count for each template whose `${` is being read

  const take = (pattern) => {
    pattern.lastIndex = masked.length
    return pattern.exec(source)
  }
  const readTemplate = () => {
    masked += blank(take(templateText)[0])
    if (source.startsWith('${', masked.length)) {
      masked += '${'
      openBraces.push(0)
      previous = '{'
    } else {
      masked += source.slice(masked.length, masked.length + 1)
      previous = ')'
    }
  }

  while (masked.length < source.length) {
    const { comment, string, word, space, mark } = take(token).groups
    if (comment) masked += blank(comment)
    else if (space) masked += space
    else if (string) {
      masked += string[0] + blank(string.slice(1, -1)) + string.slice(1).slice(-1)
      previous = ')'
    } else if (mark === '`') {
      masked += mark
      readTemplate()
    } else if (mark === '}' && openBraces.at(-1) === 0) {
      openBraces.pop()
      masked += mark
      readTemplate()
    } else if (mark === '/' && beforeRegex.test(previous) && take(regex)) {
      masked += blank(take(regex)[0])
      previous = ')'
    } else {
      if (mark === '{' && openBraces.length) openBraces[openBraces.length - 1]++
      if (mark === '}' && openBraces.length) openBraces[openBraces.length - 1]--
      masked += word ?? mark
      previous = word ?? mark
    }
  }
  return masked
}

function blank(text) {
  return text.replace(/[^\n]/g, ' ')
}
