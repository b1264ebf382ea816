import { useShared } from './language.ts'

/** Readable names of claims (as in the API, nested paths joined by dots) and documents. */
export function useClaimWords(): { claim: (name: string) => string; document: (type: string) => string } {
  const words = useShared()
  return {
    claim: name => {
      const years = /^age_over_(\d+)$/.exec(name)?.[1]
      return years ? words.ageOver(years) : (words.claims[name] ?? readableName(name))
    },
    document: type => words.documents[type] ?? type,
  }
}

export const readableName = (name: string): string => {
  const spaced = name.replaceAll(/[._]+/g, ' ').trim()
  return `${spaced.charAt(0).toUpperCase()}${spaced.slice(1)}`
}

/**
 * Whether a document denies an age that no rule has judged (`rules: []`, or a query of its own).
 * The service calls such a session completed; nobody may take it for a yes.
 */
export const deniesAge = (claims: Readonly<Record<string, unknown>>, ruled: readonly string[] = []): boolean =>
  Object.entries(claims).some(([name, value]) => /^age_over_\d+$/.test(name) && value !== true && !ruled.includes(name))
