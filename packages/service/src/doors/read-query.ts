import { badRequest } from '../server/problem.js'

/** Reads the text behind the `?`. Every parameter may be absent, and may come once. */
export function readQuery(query: string, names: readonly string[]): Readonly<Record<string, string | undefined>> {
  const values: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    if (!names.includes(name))
      throw badRequest(`there is no parameter '${name.slice(0, 60)}'; this resource has ${names.join(', ')}`)
    if (Object.hasOwn(values, name)) throw badRequest(`the parameter ${name} must come once`)
    values[name] = value
  }
  return values
}

/** Reads a whole number of a query. */
export function readWhole(
  name: string,
  text: string | undefined,
  { least, most, otherwise }: { readonly least: number; readonly most: number; readonly otherwise: number },
): number {
  if (text === undefined) return otherwise
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  throw badRequest(`${name} must be a whole number from ${least} to ${most}, got '${text.slice(0, 60)}'`)
}
