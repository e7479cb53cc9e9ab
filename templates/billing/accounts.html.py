BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'Currency, discounts and credits of each organization.') 
  XXXXXXX XXXXXXX pgettext(u'page title', u'Billing accounts') X
          XXXXXX XX
  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB
  XXXX XXXXXXXXXXXXXX
    XXXX XXXXXXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXXX
        XXXXXXX
          XXXX
            XXXX pgettext(u'column', u'Organization') XXXXX
            XXXX pgettext(u'column', u'Currency') XXXXX
            XXXX pgettext(u'column', u'Mode') XXXXX
            XXXX pgettext(u'column', u'Discounts') XXXXX
            XXX XXXXXXXXXXXX pgettext(u'column', u'Credit left') XXXXX
            XXXX
              XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Actions') XXXXXXX
            XXXXX
          XXXXX
        XXXXXXXX
        XXXXXXX
          BBB BBB BB BBBB
            XXX XXXXXXXXXXXXXXXXXX
              XXX XXXXXXXXXXX XXXXXX
                XX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXX
              XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Currency') XXXXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Mode') XX
                BB BBBBBBBBBBBBBBBB BB BBBBBBBBBBBB
                   pgettext(u'value', u'Chargeback') 
                BBBB
                   pgettext(u'value', u'Showback') 
                BBBBB
              XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Discounts') XX
                BBB BBBBB BBBBBBB BB BBBBBBBBBBBBB
                   FFFFFFFFFFFFFFFFXBB BBB BBBBBBBBBBBBXBBBBB
                BBBBB
                  X
                BBBBBB
              XXXXX
              XXX XXXXXXXXXXX
                  XXXXXXXXXXXX pgettext(u'column', u'Credit left') XXFFFFFFFFFFFXXXXX
              XXX XXXXXXXXXXXX
                XX XXXXXXXXXX XXXXXX
                   XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Edit') XXXX
                XX XXXXXXXXXX XXXXXX
                   XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Discount') XXXX
                XX XXXXXXXXXX XXXXXX
                   XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Credit') XXXX
              XXXXX
            XXXXX
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
  XXXXXX
  BB BBBBBB
    XXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXX
      XXXXXXX XXXXXXXXXXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Set discount') XXXXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Add credit') XXXXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Edit') XXXXXXXXX
      XXXXXXXXX
      XXX XXXXXXXXXXXXXX
        XXXX pgettext(u'name of a value', u'Currency') XXXXX
        XXXX
          
        XXXXX
        XXXX pgettext(u'name of a value', u'Mode') XXXXX
        XXXX
          BBB BBBBBB BBBBB BB BBBBB
            BB BBBBB BB BBBBBBBBBBBBBBBBBBBFFFFFFFFFFBBBBB
          BBBBBB
        XXXXX
        XXXX gettext(u'Address on statements') XXXXX
        XXXX
          FFFFFFFFFFFFFFFFFFFFFFF
        XXXXX
      XXXXX
    XXXXXXXXXX
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXX pgettext(u'button', u'Save') X
                   XXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
      XXXX XXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Currency') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXX
                 XXXXXXXXXXXXX
                 XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Mode') XX
          XXXXXXX XXXXXXXXXXXX
            BBB BBBBBB BBBBB BB BBBBB
              XXXXXXX XXXXXXXX
                      BB BBBBB BB BBBBBBBBBBBBBBBBBBBXXXXXXXXBBBBBXFFFFFFFFFFXXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXXXX
      XXXXXX
      XXXXXXXX XXXXXXX gettext(u'Address on statements') XX
        XXXXXXXXX XXXXXXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXX
      XXXXXXXXXX
    XXXXXXXXXXXXXXXX
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXXXX
                   XXXXXXX pgettext(u'heading', u'Set discount') X
                   XXXXXXXX pgettext(u'button', u'Set discount') X
                   XXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
      XXXX XXXXXXXXXXXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
        XXXXXXXX XXXXXXX pgettext(u'field', u'Percent') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'From') XX
          XXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXX XXXXXXXXX
        XXXXXXXXXX
      XXXXXX
    XXXXXXXXXXXXXXXX
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXX
                   XXXXXXX pgettext(u'heading', u'Add credit') X
                   XXXXXXXX pgettext(u'button', u'Add credit') X
                   XXXXXXXXXXXX
      XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
      XXXX XXXXXXXXXXXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
        XXXXXXXX XXXXXXX pgettext(u'field', u'Amount') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field, remark', u'Note') XX
          XXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXX
        XXXXXXXXXX
      XXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
