import { mailFailures as failuresDe } from '../../../shared/findings/de.ts'
import { mailFailures as failuresEn } from '../../../shared/findings/en.ts'
import { useWords } from '../../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useMailWords = () => useWords({ en: { ...en.mail, failures: failuresEn }, de: { ...de.mail, failures: failuresDe } })
