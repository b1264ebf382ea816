import { useWords } from '../../shared/language.ts'
import * as de from './de.ts'
import * as en from './en.ts'

export const useDevicesWords = () => useWords({ en: en.devices, de: de.devices })
