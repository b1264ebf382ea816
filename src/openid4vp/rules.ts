/** A condition that the merged claims of a sound presentation must meet. A `claim` with dots leads inside objects. */
export type Rule =
  | { claim: string; is: boolean }
  | { claim: string; one_of: (string | number | boolean)[] }
  | { claim: 'birthdate'; age_at_least: number }
