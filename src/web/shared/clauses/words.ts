import { useWords } from '../language.ts'
import { clauses as de } from './de.ts'
import { clauses as en } from './en.ts'

export const useClauses = () => useWords({ en, de })
