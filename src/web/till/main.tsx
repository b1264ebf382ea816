import { mount } from '../shared/mount.tsx'
import { putAwayStale } from './check.ts'
import { install } from './install.ts'
import { TillPage } from './till.tsx'

install()
putAwayStale()
mount(<TillPage />)
