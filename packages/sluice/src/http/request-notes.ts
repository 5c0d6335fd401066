/** What limits note about a request, for the limits and handlers behind them. */
export interface RequestNotes {
  readonly request: object
  /** The latest `Passage` of the request, which `lastPassage` reads. */
  passage: object | undefined
  /** Where the request comes from, according to a limit that has `trustedProxies`. */
  origin: string | undefined
}

/** A property, because a `WeakMap` costs half a microsecond a request. */
const NOTES = Symbol('sluice.notes')

interface Noted {
  [NOTES]?: RequestNotes
}

/** The notes about a request, if there are any. */
export function notesOf(request: object | undefined): RequestNotes | undefined {
  if (request === undefined) return undefined
  const notes = placeOf(request)[NOTES]
  // A request that is made for a test may share its fields with others.
  return notes?.request === request ? notes : undefined
}

/** The notes about a request, to be written. */
export function openNotes(request: object): RequestNotes {
  const known = notesOf(request)
  if (known !== undefined) return known
  const notes = { request, passage: undefined, origin: undefined }
  placeOf(request)[NOTES] = notes
  return notes
}

/**
 * The object that has the notes: the request, or of a request of Node.js its list of fields. Express changes the prototype of each
 * request, after which a new property of it costs two microseconds.
 */
function placeOf(request: object): Noted {
  const { rawHeaders } = request as { readonly rawHeaders?: unknown }
  return Array.isArray(rawHeaders) ? (rawHeaders as Noted) : request
}
