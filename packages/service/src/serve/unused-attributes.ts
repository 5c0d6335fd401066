import { nearestName } from 'sluice'

/** An attribute of a request that the policy never asks about. */
export interface UnusedAttribute {
  readonly attribute: string
  /** An attribute with a similar name that the policy asks about and the request lacks. */
  readonly didYouMean?: string
}

/**
 * The attributes of a request that are not among those of the policy. A misspelt attribute would silently skip a level:
 * `merchnt` may be meant as `merchant`.
 */
export function unusedAttributes(request: object, attributes: readonly string[]): readonly UnusedAttribute[] {
  const unused = Object.keys(request).filter((name) => !attributes.includes(name))
  const lacking = attributes.filter((name) => !Object.hasOwn(request, name))
  return unused.map((attribute) => {
    const didYouMean = nearestName(attribute, lacking)
    return didYouMean === undefined ? { attribute } : { attribute, didYouMean }
  })
}
