BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX gettext(u'GPU use by organization') X
         XXXXXXX pgettext(u'remark', u'last 24 hours') X
         XXXXXXXXX
         XXXXXXXXXXXXXXXX
  BB BBBBBBBBBBBBB
    XXXX XXXXXXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXXX
        XXXXXXX
          XXXX
            XXXX pgettext(u'column', u'Organization') XXXXX
            XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs now') XXXXX
            XXX XXXXXXXXXXX
                XXXXXXX gettext(u'GPUs that are unused for longer than the idle rule of their pool allows') XX
               pgettext(u'column', u'Idle too long') 
            XXXXX
            XXX XXXXXXXXXXXX gettext(u'Allocated GPU hours') XXXXX
            XXXX pgettext(u'column', u'Utilization') XXXXX
            XXX XXXXXXXXXXXX gettext(u'Unused GPU hours') XXXXX
            XXXXXXXXX
          XXXXX
        XXXXXXXX
        XXXXXXX
          BBB B BB BBBBBBBBBBBBB
            XXX XXXXXXXXXXXXXXXXXXX
              XXX XXXXXXXXXXX XXXXXX
                XX XXXXXXXXXXXXX XXXXXXXXXXXXXX
              XXXXX
              XXX XXXXXXXXXXX
                  XXXXXXXXXXXX pgettext(u'column', u'GPUs now') XXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXFFFFFFFFFFFFFFFFXXXXXXXXX
              XXX XXXXXXXXXXX
                  XXXXXXXXXXXX pgettext(u'column', u'Idle too long') XX
                BB BBBBBB
                  XX XXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXFFFFFFFFFFFFFFFFXXXX
                BBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXXXX
                BBBBB
              XXXXX
              XXX XXXXXXXXXX XXXXXXFFFFFFFFFFFFFFFFXXXXX
              XXX XXXXXXXXXXX
                  XXXXXXXXXXXX pgettext(u'column', u'Utilization') XX
                BB BBBBB BB BBB BBBB
                  XXXXXXXXX XXXXXXX XXXXXXXFFFFFFFFFFFFFFFFFX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                  XXXXXXFFFFFFFFFFFFFFXXXXXXX
                BBBB
                  XXXXX XXXXXXXXXXXXXX pgettext(u'value', u'not measured') XXXXXXX
                BBBBB
              XXXXX
              XXX XXXXXXXXXXX XXXXXXXXXXXX gettext(u'Unused GPU hours') XX
                XXXFFFFFFFFFFFFFFFFXXXX
              XXXXX
              XXX XXXXXXXXXXXX
                XX XXXXXXXXXX XXXXXX XXXXXXXXXXXXXX pgettext(u'button', u'Idle GPUs') XXXX
              XXXXX
            XXXXX
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
  BBBB
    XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'No organization has used a GPU in the last 24 hours.') XXXX
  BBBBB
XXXXXXXXXX
