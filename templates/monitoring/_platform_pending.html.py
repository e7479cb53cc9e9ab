BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Longest pending') X
         XXXXXXXX
         XXXXXXXXXXXXXXXXXXXXXX
         XXXXXX pgettext(u'link', u'Open the queue') X
         XXXXXXXXXX
  BB BBBBBBB
    XXXX XXXXXXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXXX
        XXXXXXX
          XXXX
            XXXX pgettext(u'column', u'Job') XXXXX
            XXXX pgettext(u'column', u'Team') XXXXX
            XXX XXXXXXXXXXXXXXXXXXXXX
            XXXX pgettext(u'column, why', u'Reason') XXXXX
            XXX XXXXXXXXXXXX pgettext(u'column', u'Waiting') XXXXX
          XXXXX
        XXXXXXXX
        XXXXXXX
          BBB B BB BBBBBBB
            XXX XXXXXXXXXXXXX
              XXX XXXXXXXXXXX XXXXXX
                XX XXXXXXXXXXXXX XXXXXXXXXXXX
                XXXXX XXXXXXXXXXXXXXXXXXXXXX
              XXXXX
              XXX XXXXXXXXXXXXX
                 XXXXX XXXXXXXXXXXXXXXXXXXXX
              XXXXX
              XXX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX
              XXX XXXXXXXXXXX XXXXXXXFFFFFFFFFFXXFFFFFFFFFFFFFFFFFFFFFFFFFFFXXXXX
              XXX XXXXXXXXXX XXXXXXX
                  XXXXXXXXXXXX pgettext(u'column', u'Waiting') XXFFFFFXXXXX
            XXXXX
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
  BBBB
    XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'Nothing is waiting: every submitted job has started or ended.') XXXX
  BBBBB
XXXXXXXXXX
