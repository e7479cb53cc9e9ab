BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'An issued statement never changes. What is found later is a correction in the next one.') 
  XXXXXXX XXXXXXX pgettext(u'page title', u'Statements') X
          XXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBB B B BBB BBBBBBB
        XXXXX XXXXXXXXXXXXX
              XXXXXXXXXXXXXX gettext(u'Issue %(n)s statements of %(month)s, %(due_totals)s in all? Issued statements never change.') 
                SSSSS SSSSS SSSSSSSSSS SS SSSSSSSSSS SSSSSSSSSSSSSS SS SSSS SSSSSS SSSSSSSSSS SSSSS SSSSSSS
              X
              XXXXXXXXXX pgettext(u'button', u'Issue statements') XX
          BBBBBBBBBB
          XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXX
          XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
          XXXXXXX XXXXXXXXXXXX
             pgettext(u'button', u'Issue %(n)s statements…') 
              SSSSS SSSSS SSSSSSSSSSS
            
          XXXXXXXXX
        XXXXXXX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB
  XXXXX XXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX
    XXXXXXX XXXXXXXXXXXX
            XXXXXXXXXXXXXXX
            XXXXXXXXXXXX pgettext(u'spoken label', u'Month') XX
      BBB BBB BB BBBBBB
        XXXXXXX BB BBB BB BBBBBXXXXXXXXBBBBBXXXXXXXXXX
      BBBBBB
    XXXXXXXXX
  XXXXXXX
  XXXX XXXXXXXXXXXXXXXXXXX
    XXXXXX XXXXXXXXXXX XXXXXXX
      XXXXXXX
        XXXX
          XXXX pgettext(u'column', u'Organization') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column', u'Total') XXXXX
          XXXX pgettext(u'column', u'Issued') XXXXX
          XXXX
            XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Actions') XXXXXXX
          XXXXX
        XXXXX
      XXXXXXXX
      XXXXXXX
        BBB BBB BB BBBB
          XXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXX XXXXXXXXXXX XXXXXX
              XX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXXXX
            XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Total') XXXXXXX
            XXX BB BBBBBBBXXXXXXXXXXXX pgettext(u'column', u'Issued') XBBBBBX
              BB BBBBBBB
                FFF
              BBBB
                XXXXX XXXXXXXXXXXXXX
                  BB BBB BBBBBBB
                     pgettext(u'value', u'draft: the month is not over') 
                  BBBB BBBBBBBBBB
                     pgettext(u'value', u'draft') 
                  BBBB
                     pgettext(u'value', u'nothing to bill') 
                  BBBBB
                XXXXXXX
              BBBBB
            XXXXX
            XXX XXXXXXXXXXXX
              BB BBBBBBB
                XX XXXXXXXXXX XXXXXX
                   XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
              BBBB BBBBBBB BBB BBBBBBBBBB
                XXXXX XXXXXXXXXXXXX
                      XXXXXXXXXXXXXX gettext(u'Issue the statement of %(name)s for %(month)s, %(total)s? Issued statements never change.') 
                        SSSSS SSS SSSSSSSSS SS SSSSSSSS SSS SSSSSSSSSS SSSSSSSSSS SSSSSS SSSSSSSSSS SSSSS SSSSSSS
                      X
                      XXXXXXXXXX pgettext(u'button', u'Issue statement') XX
                  BBBBBBBBBB
                  XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXX
                  XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
                  XXXXXXX XXXXXXXXXX XXXXXXX pgettext(u'button', u'Issue') XXXXXXXXX
                XXXXXXX
              BBBBB
            XXXXX
          XXXXX
        BBBBBB
      XXXXXXXX
    XXXXXXXX
  XXXXXX
BBBBBBBB
