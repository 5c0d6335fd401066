/**
 * How a person gets to what only the admin token shows, as the beginning of a sentence: `${tokenWords(hasAdmin)} to see them.` A
 * service without a token refuses every one, so there it is no use to give one.
 */
export function tokenWords(hasAdmin: boolean): string {
  return hasAdmin ? WITH_TOKEN : WITHOUT_TOKEN
}

const WITH_TOKEN = 'Give the admin token (Viewer, at the top)'
const WITHOUT_TOKEN = 'Start the service with --admin-token'
