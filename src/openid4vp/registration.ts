/** What a registration certificate lets its holder ask for: a format, its types, and paths of claims. */
export type RegisteredCredential = {
  format: string
  types: string[]
  /** A `null` in a path is any element; no paths at all is every claim. */
  claims: (string | number | null)[][]
}
