import { useWords } from '../../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useWebhooksWords = () => useWords({ en: en.webhooks, de: de.webhooks })
