BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXFFFFFFFFFFX
          XXXXX gettext(u'What you may decide, and what you asked for.') X XX
  XXXX XXXXXXXXXXXXXX
    BB BBBBB
       pgettext(u'heading, requests', u'Open') 
      XXXXXXXX XXXXXXXXXXXXXX XXXXXXXFFFFFFX XXXXXXXXXX
        XXX XXXXXXXXXXXXX
          BBB BBBB BB BBBBB
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBB
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBB
      XXXXXXXX XXXXXXX gettext(u'No open requests') XX
         gettext(u"Ask for a higher limit on Quotas, for GPUs on Pools, and for approval on a model's version.") 
        XXXXXXX XXXXXXXXXXXXXXX
          XX XXXXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Quotas') XXXX
          XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'GPU requests') XXXX
        XXXXXXXXX
      XXXXXXXXXX
    BBBBB
    BB BBBBBBB
       pgettext(u'heading', u'Decided lately') 
      XXXXXXXX XXXXXXXXXXXXXX XXXXXXXXXX
        XXX XXXXXXXXXXXXX
          BBB BBBB BB BBBBBBB
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBB
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
