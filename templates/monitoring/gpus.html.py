BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
BBBBB BBBBBXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'Every GPU that an agent reports: its MIG layout, its use and the jobs on it.') 
  XXXXXXX XXXXXXX pgettext(u'page title', u'GPUs') X XXXXXX XX
  XXXXXXX XXXXXXX pgettext(u'spoken label', u'Capacity') XX
    XXXXXX XXXXXXXXXXXXXXXXX
       pgettext(u'tab', u'Free now') 
    XXXXXXXX
    XXXXXX XXXXXXXXXXXXXX
       pgettext(u'tab', u'Fleet') 
    XXXXXXXX
    XXXXXX XXXXXXXXXXXX XXXXXXXXXXXX
       pgettext(u'tab', u'GPUs') 
    XXXXXXXX
    XXXXXX XXXXXXXXXXXXXX
       pgettext(u'tab', u'Nodes') 
    XXXXXXXX
  XXXXXXXXX
  BB BBBBBBBBB BB BBBBBBBBBB BB BBBBBBBBBBBBBBBB
    XXXXXXXXXX XXXXXXXXXXXX XX
  BBBBB
  XXXXXXXX XXXXXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'empty list', u'No GPUs yet') X
             XXXXXXXXXXXXXXXXXXXXX XXX XXXXXXXXXXXX XXXXXXX
       gettext(u'Run the agent on a node with GPUs: they appear with its first report.') 
    XXXXXXXXXX
  XXXXXXXXXX
BBBBBBBB
